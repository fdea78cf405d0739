# SPDX-License-Identifier: Apache-2.0
# tally_sqlite.so: the aggregates for SQLite, one file with libtally inside.

find_path(TALLY_SQLITE_INCLUDE sqlite3ext.h)
if(NOT TALLY_SQLITE_INCLUDE)
  message(FATAL_ERROR "TALLY_SQLITE needs sqlite3ext.h (Debian: libsqlite3-dev)")
endif()
add_library(
  tally_sqlite MODULE
  ${PROJECT_SOURCE_DIR}/sql/group/group.c ${PROJECT_SOURCE_DIR}/sql/sqlite/extension.c
  ${PROJECT_SOURCE_DIR}/sql/sqlite/json.c $<TARGET_OBJECTS:tally_objects> ${TALLY_ISA_OBJECTS}
  $<TARGET_OBJECTS:tally_core_objects>)
target_include_directories(tally_sqlite PRIVATE ${PROJECT_SOURCE_DIR}/include ${TALLY_SQLITE_INCLUDE})
target_link_libraries(tally_sqlite PRIVATE ${TALLY_LINK})
set_target_properties(tally_sqlite PROPERTIES PREFIX "" OUTPUT_NAME tally_sqlite LINKER_LANGUAGE C C_VISIBILITY_PRESET
                                              hidden LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_link_options(tally_sqlite PRIVATE -Wl,--version-script,${PROJECT_SOURCE_DIR}/sql/sqlite/exports.map
                    -Wl,-z,nodelete)
install(TARGETS tally_sqlite DESTINATION ${CMAKE_INSTALL_LIBDIR}/sqlite3)
