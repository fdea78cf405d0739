# SPDX-License-Identifier: Apache-2.0
# The command, and what it prints about itself: the man page and the completions.

file(GLOB TALLY_CLI_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*.c
     ${PROJECT_SOURCE_DIR}/common/*.c)
if(NOT EXISTS ${PROJECT_SOURCE_DIR}/cli/main.c)
  message(STATUS "cli/main.c is missing: no command")
  return()
endif()

list(REMOVE_ITEM TALLY_CLI_SOURCES ${PROJECT_SOURCE_DIR}/cli/main.c)
add_library(tally_cli_objects OBJECT ${TALLY_CLI_SOURCES}) # what tally-mpi has, too
add_executable(tally_command ${PROJECT_SOURCE_DIR}/cli/main.c)
set_target_properties(
  tally_command
  PROPERTIES OUTPUT_NAME tally
             # Where it is installed, and where it is built. The same for both: another one that CMake
             # writes when it installs leaves empty entries in the build's, which mean "here".
             INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR};$ORIGIN"
             BUILD_WITH_INSTALL_RPATH ON)
string(REPLACE ";" ", " loops "${TALLY_ISAS}")
string(REPLACE "base" "${CMAKE_SYSTEM_PROCESSOR}" loops "${loops}")
set_property(SOURCE ${PROJECT_SOURCE_DIR}/cli/help.c
             APPEND PROPERTY COMPILE_DEFINITIONS TALLY_LOOPS="${loops}")
target_link_libraries(tally_cli_objects PUBLIC tally_io Threads::Threads m ${CMAKE_DL_LIBS})
target_link_libraries(tally_command PRIVATE tally_cli_objects)

set(TALLY_PAGES ${PROJECT_BINARY_DIR}/pages)
file(MAKE_DIRECTORY ${TALLY_PAGES})
set(TALLY_PAGE_FILES "")
# `page` is written only when the command succeeds.
function(tally_page file)
  add_custom_command(
    OUTPUT ${TALLY_PAGES}/${file}
    COMMAND tally_command --print ${ARGN} > ${TALLY_PAGES}/${file}.new
    COMMAND ${CMAKE_COMMAND} -E rename ${TALLY_PAGES}/${file}.new ${TALLY_PAGES}/${file}
    DEPENDS tally_command
    COMMENT "Writing ${file}"
    VERBATIM)
  set(TALLY_PAGE_FILES ${TALLY_PAGE_FILES} ${TALLY_PAGES}/${file} PARENT_SCOPE)
endfunction()
tally_page(tally.bash bash)
tally_page(_tally zsh)
tally_page(tally.fish fish)
tally_page(tally.1 man)
set(TALLY_MAN_PAGES ${TALLY_PAGES}/tally.1)
file(STRINGS ${PROJECT_SOURCE_DIR}/cli/table.c rows REGEX "^    {CLI_[A-Z_]+, \"[a-z]+\", \"") # the table of words
foreach(row IN LISTS rows)
  string(REGEX REPLACE "^[^\"]*\"([a-z]+)\".*" "\\1" word "${row}")
  tally_page(tally-${word}.1 man ${word})
  list(APPEND TALLY_MAN_PAGES ${TALLY_PAGES}/tally-${word}.1)
endforeach()
if(NOT CMAKE_CROSSCOMPILING AND NOT TALLY_WHEEL) # a wheel has none
  add_custom_target(tally_pages ALL DEPENDS ${TALLY_PAGE_FILES})
endif()
