# SPDX-License-Identifier: Apache-2.0
# tally.duckdb_extension: aggregates for DuckDB, built against its stable C API; one file, libtally inside, that
# every DuckDB from 1.3 on loads. scripts/duckdb_headers.py fetches the two headers, if no package brings them.

find_path(TALLY_DUCKDB_INCLUDE duckdb_extension.h HINTS ${PROJECT_SOURCE_DIR}/build/duckdb/include)
find_package(Python3 COMPONENTS Interpreter REQUIRED)
if(NOT TALLY_DUCKDB_INCLUDE)
  message(FATAL_ERROR "TALLY_DUCKDB needs duckdb_extension.h: run scripts/duckdb_headers.py, or name its folder by "
                      "TALLY_DUCKDB_INCLUDE")
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(platform linux_arm64)
else()
  set(platform linux_amd64)
endif()

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/sql/group/*.c ${PROJECT_SOURCE_DIR}/sql/duckdb/*.c)
add_library(tally_duckdb MODULE ${sources} $<TARGET_OBJECTS:tally_objects> ${TALLY_ISA_OBJECTS}
                                $<TARGET_OBJECTS:tally_core_objects>)
target_include_directories(tally_duckdb PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_include_directories(tally_duckdb SYSTEM PRIVATE ${TALLY_DUCKDB_INCLUDE})
target_compile_options(tally_duckdb PRIVATE -O3) # loops over a chunk of rows become vectors
target_link_libraries(tally_duckdb PRIVATE ${TALLY_LINK})
set_target_properties(tally_duckdb PROPERTIES PREFIX "" OUTPUT_NAME tally SUFFIX .duckdb_extension LINKER_LANGUAGE C
                                              C_VISIBILITY_PRESET hidden LIBRARY_OUTPUT_DIRECTORY
                                              ${PROJECT_BINARY_DIR})
target_link_options(tally_duckdb PRIVATE -Wl,--version-script,${PROJECT_SOURCE_DIR}/sql/duckdb/exports.map -Wl,-z,nodelete)
set_property(TARGET tally_duckdb APPEND PROPERTY LINK_DEPENDS ${PROJECT_SOURCE_DIR}/sql/duckdb/footer.py)
add_custom_command(
  TARGET tally_duckdb POST_BUILD COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/sql/duckdb/footer.py
                                         $<TARGET_FILE:tally_duckdb> ${platform} ${PROJECT_VERSION})
install(TARGETS tally_duckdb DESTINATION ${CMAKE_INSTALL_LIBDIR}/duckdb)
