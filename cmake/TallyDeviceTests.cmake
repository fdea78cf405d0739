# SPDX-License-Identifier: Apache-2.0
# tests/device: drivers that fail, drivers that are not there, and PoCL's.

# Stand-ins for the driver libraries, by the real ones' names, in a folder of their own.
set(TALLY_FAKES ${PROJECT_BINARY_DIR}/tests/device/lib)
function(tally_fake name output suffix)
  add_library(fake_${name} MODULE ${PROJECT_SOURCE_DIR}/tests/device/fake/fake_${name}.c)
  target_include_directories(
    fake_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  set_target_properties(
    fake_${name} PROPERTIES OUTPUT_NAME ${output} SUFFIX ${suffix}
                            LIBRARY_OUTPUT_DIRECTORY ${TALLY_FAKES})
endfunction()
tally_fake(opencl OpenCL .so.1)
tally_fake(cuda cuda .so.1)
tally_fake(nvrtc nvrtc .so.13)
tally_fake(broken broken .so)

tally_test_programs(device)
foreach(program IN LISTS TALLY_TEST_PROGRAMS)
  if(program MATCHES "^device_")
    target_compile_definitions(${program} PRIVATE FAKE_FOLDER="${TALLY_FAKES}"
                                                  PREBUILD="$<TARGET_FILE:prebuild>")
    target_link_libraries(${program} PRIVATE ${CMAKE_DL_LIBS})
    add_dependencies(${program} fake_opencl fake_cuda fake_nvrtc prebuild)
  endif()
endforeach()
tally_test_scripts(device)

# Oclgrind's runtime, with what it does not see made visible. Its own code is not sanitized.
find_library(TALLY_OCLGRIND oclgrind-rt PATHS /usr/lib/oclgrind /usr/lib64/oclgrind)
mark_as_advanced(TALLY_OCLGRIND)
if(TALLY_OCLGRIND)
  add_library(oclgrind_shim MODULE ${PROJECT_SOURCE_DIR}/tests/device/fake/oclgrind_shim.c)
  target_include_directories(
    oclgrind_shim PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(oclgrind_shim PRIVATE ${TALLY_OCLGRIND})
  set_target_properties(oclgrind_shim PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${TALLY_FAKES} PREFIX "")
endif()
