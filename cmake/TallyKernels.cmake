# SPDX-License-Identifier: Apache-2.0
# The kernels file: kernels compiled ahead of time by tools/prebuild.c. TALLY_PREBUILT says for what
# every build makes it; the target `kernels` makes it when asked. Where NVRTC is not found when
# building, no file is made and nothing else changes.

set(TALLY_PREBUILT none CACHE STRING
    "Compiled ahead by every build: all, none, or some of 75,80,86,89,90,100,120,ptx")
set(TALLY_KERNELS ptx CACHE STRING "The same by the target `kernels`, where TALLY_PREBUILT is none")

foreach(name IN ITEMS TALLY_PREBUILT TALLY_KERNELS)
  if(NOT "${${name}}" MATCHES "^(all|none|((75|80|86|89|90|100|120|ptx)([,;]|$))+)$")
    message(FATAL_ERROR "${name} is '${${name}}': all, none, or some of 75,80,86,89,90,100,120,ptx")
  endif()
endforeach()

add_executable(prebuild EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tools/prebuild.c)
set_target_properties(prebuild PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tools)
target_link_libraries(prebuild PRIVATE tally_internal)

set(TALLY_KERNELS_FILE ${PROJECT_BINARY_DIR}/libtally-${PROJECT_VERSION}.kernels)
set(run_prebuild ${CMAKE_COMMAND} -E env TALLY_CACHE_DIR=${PROJECT_BINARY_DIR}/kernels-cache
                 $<TARGET_FILE:prebuild> ${TALLY_KERNELS_FILE})
if(TALLY_PREBUILT STREQUAL "none" OR CMAKE_CROSSCOMPILING)
  string(REPLACE ";" "," wanted "${TALLY_KERNELS}")
  add_custom_target(kernels COMMAND ${run_prebuild} ${wanted} VERBATIM)
  add_dependencies(kernels prebuild)
else()
  string(REPLACE ";" "," wanted "${TALLY_PREBUILT}")
  set(stamp ${PROJECT_BINARY_DIR}/kernels.stamp)
  add_custom_command(
    OUTPUT ${stamp}
    COMMAND ${run_prebuild} ${wanted}
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS prebuild
    COMMENT "Compiling kernels ahead"
    VERBATIM)
  add_custom_target(kernels ALL DEPENDS ${stamp})
endif()
install(FILES ${TALLY_KERNELS_FILE} DESTINATION ${CMAKE_INSTALL_LIBDIR} OPTIONAL)
