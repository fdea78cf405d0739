# SPDX-License-Identifier: Apache-2.0
# libFuzzer targets, built by the target fuzzers only. fuzz_NAME starts from tests/fuzz/corpus/NAME and from what tests/fuzz/make_seeds.py
# writes to fuzz/seeds/NAME of the build folder, before each build; what it finds goes there too.

if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang" OR NOT TALLY_SANITIZE MATCHES "address")
  message(FATAL_ERROR "TALLY_FUZZ needs clang and the address sanitizer: cmake --preset asan")
endif()

# Objects that tell libFuzzer what ran. Those of io are the tests' own. Src's are compiled for the fuzzers once more, for with that its
# tests take twice as long; not its loops over samples, whose way no byte of a file chooses, nor devices, but for unpacking.
foreach(isa IN LISTS TALLY_ISAS)
  list(APPEND io tally_io_${isa})
endforeach()
foreach(target IN LISTS io ITEMS tally_io_objects tally_core_objects)
  target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
endforeach()
set(src ${TALLY_SOURCES})
list(FILTER src EXCLUDE REGEX "/src/gpu/")
list(APPEND src ${PROJECT_SOURCE_DIR}/src/gpu/pack.c)

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/*.c)
set(targets ${sources})
set(shared ${sources})
list(FILTER targets INCLUDE REGEX "/fuzz_[^/]*\\.c$")
list(FILTER shared EXCLUDE REGEX "/fuzz_[^/]*\\.c$")
file(GLOB common CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/common/*.c ${PROJECT_SOURCE_DIR}/tests/common/*.c)
add_library(fuzz_shared OBJECT EXCLUDE_FROM_ALL ${shared} ${common} ${src})
target_include_directories(fuzz_shared PUBLIC ${PROJECT_SOURCE_DIR}/common ${PROJECT_SOURCE_DIR}/tests/common)
target_compile_options(fuzz_shared PUBLIC -UNDEBUG -fsanitize=fuzzer-no-link)
target_link_libraries(fuzz_shared PUBLIC tally_internal)
add_custom_target(fuzzers)
set(seeds ${PROJECT_BINARY_DIR}/fuzz/seeds)
if(TALLY_PYTHON)
  add_custom_target(seeds COMMAND ${TALLY_PYTHON} ${PROJECT_SOURCE_DIR}/tests/fuzz/make_seeds.py ${seeds})
  add_dependencies(fuzzers seeds)
else()
  message(STATUS "no python3 here has NumPy: the fuzzers start without other programs' files")
endif()
foreach(source IN LISTS targets)
  get_filename_component(program ${source} NAME_WE)
  string(REGEX REPLACE "^fuzz_" "" name ${program})
  add_executable(${program} EXCLUDE_FROM_ALL ${source})
  set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
  target_link_options(${program} PRIVATE -fsanitize=fuzzer)
  target_link_libraries(${program} PRIVATE fuzz_shared)
  if(name STREQUAL tiff) # which the library opens, and this links
    target_link_libraries(${program} PRIVATE PkgConfig::TALLY_TIFF)
  endif()
  add_dependencies(fuzzers ${program})

  set(found ${PROJECT_BINARY_DIR}/fuzz/found/${name})
  set(crashes ${PROJECT_BINARY_DIR}/fuzz/crashes/${name})
  file(MAKE_DIRECTORY ${found} ${crashes} ${seeds}/${name})
  set(corpus ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name})
  if(NOT EXISTS ${corpus})
    set(corpus "")
  endif()
  math(EXPR limit "${TALLY_FUZZ_SECONDS} + 120")
  tally_test(
    fuzz/${name} LABEL fuzz TIMEOUT ${limit}
    # 77, libFuzzer's own status for a finding, is a skipped test's
    COMMAND ${program} -error_exitcode=1 -max_total_time=${TALLY_FUZZ_SECONDS} -timeout=25 -rss_limit_mb=2048
            -print_final_stats=1 -artifact_prefix=${crashes}/ ${found} ${corpus} ${seeds}/${name})
endforeach()
