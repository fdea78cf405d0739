# The kernels file: kernels compiled ahead of time by tools/prebuild.c. TALLY_PREBUILT says for what.
# Where NVRTC is not found when building, no file is made and nothing else changes.

set(TALLY_PREBUILT none CACHE STRING
    "Architectures whose kernels are compiled ahead: all, none, or some of 75,80,86,89,90,100,120,ptx")

add_executable(prebuild EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tools/prebuild.c)
set_target_properties(prebuild PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tools)
target_link_libraries(prebuild PRIVATE tally_internal)

set(TALLY_KERNELS_FILE ${PROJECT_BINARY_DIR}/libtally-${PROJECT_VERSION}.kernels)
if(TALLY_PREBUILT STREQUAL "none")
  set(prebuilt all) # the target can be asked for
else()
  string(REPLACE ";" "," prebuilt "${TALLY_PREBUILT}")
endif()
set(stamp ${PROJECT_BINARY_DIR}/kernels.stamp)
add_custom_command(
  OUTPUT ${stamp}
  COMMAND ${CMAKE_COMMAND} -E env TALLY_CACHE_DIR=${PROJECT_BINARY_DIR}/kernels-cache
          $<TARGET_FILE:prebuild> ${TALLY_KERNELS_FILE} ${prebuilt}
  COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
  DEPENDS prebuild
  COMMENT "Compiling kernels ahead"
  VERBATIM)
if(TALLY_PREBUILT STREQUAL "none" OR CMAKE_CROSSCOMPILING)
  add_custom_target(kernels DEPENDS ${stamp})
else()
  add_custom_target(kernels ALL DEPENDS ${stamp})
endif()
install(FILES ${TALLY_KERNELS_FILE} DESTINATION ${CMAKE_INSTALL_LIBDIR} OPTIONAL)
