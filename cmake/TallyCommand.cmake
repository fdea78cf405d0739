# The command, and what it prints about itself: the man page and the completions.

file(GLOB TALLY_CLI_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*.c
     ${PROJECT_SOURCE_DIR}/bench/src/*.c)
if(NOT EXISTS ${PROJECT_SOURCE_DIR}/cli/main.c)
  message(STATUS "cli/main.c is missing: no command")
  return()
endif()

add_executable(tally_command ${TALLY_CLI_SOURCES})
set_target_properties(
  tally_command
  PROPERTIES OUTPUT_NAME tally
             # Where it is installed, and where it is built. The same for both: another one that CMake
             # writes when it installs leaves empty entries in the build's, which mean "here".
             INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR};$ORIGIN"
             BUILD_WITH_INSTALL_RPATH ON)
target_include_directories(tally_command PRIVATE ${PROJECT_SOURCE_DIR}/cli ${PROJECT_SOURCE_DIR}/bench/src)
target_link_libraries(tally_command PRIVATE tally Threads::Threads m ${CMAKE_DL_LIBS})

# Charts of the benchmark are drawn by the command itself.
target_compile_definitions(tally_command PRIVATE TALLY_HAVE_CAIRO=${TALLY_HAVE_CAIRO})
if(TALLY_HAVE_CAIRO)
  target_link_libraries(tally_command PRIVATE PkgConfig::TALLY_CAIRO)
endif()

# What measurements say that they are of: the commit, where there is one.
set(TALLY_COMMIT "" CACHE STRING "What the benchmark's lines call this source (default: git's commit)")
set(commit "${TALLY_COMMIT}")
if(NOT commit AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
  execute_process(
    COMMAND git -C ${PROJECT_SOURCE_DIR} describe --always --dirty --abbrev=12
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process( # asked again after every commit
    COMMAND git -C ${PROJECT_SOURCE_DIR} rev-parse --path-format=absolute --git-path logs/HEAD
    OUTPUT_VARIABLE log OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(EXISTS "${log}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${log}")
  endif()
endif()
set_property(SOURCE ${PROJECT_SOURCE_DIR}/bench/src/figure_measure.c APPEND
             PROPERTY COMPILE_DEFINITIONS TALLY_COMMIT="${commit}")

set(TALLY_PAGES ${PROJECT_BINARY_DIR}/pages)
file(MAKE_DIRECTORY ${TALLY_PAGES})
set(TALLY_PAGE_FILES "")
# `page` is written only when the command succeeds.
function(tally_page what file)
  add_custom_command(
    OUTPUT ${TALLY_PAGES}/${file}
    COMMAND tally_command --print ${what} > ${TALLY_PAGES}/${file}.new
    COMMAND ${CMAKE_COMMAND} -E rename ${TALLY_PAGES}/${file}.new ${TALLY_PAGES}/${file}
    DEPENDS tally_command
    COMMENT "Writing ${file}"
    VERBATIM)
  set(TALLY_PAGE_FILES ${TALLY_PAGE_FILES} ${TALLY_PAGES}/${file} PARENT_SCOPE)
endfunction()
tally_page(man tally.1)
tally_page(bash tally.bash)
tally_page(zsh _tally)
tally_page(fish tally.fish)
if(NOT CMAKE_CROSSCOMPILING)
  add_custom_target(tally_pages ALL DEPENDS ${TALLY_PAGE_FILES})
endif()
