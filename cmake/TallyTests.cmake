# SPDX-License-Identifier: Apache-2.0
# Tests are found by their place and name:
#
#   tests/{unit,property,differential}/test_*.c   a program each; the folder's other .c files are
#                                                 shared by its programs, those of tests/common
#                                                 and common by all
#   tests/*/test_*.py                             run by a Python that has NumPy
#   tests/{cli,bench,install}/test_*.sh           run by bash
#   tests/docs/test_pages.py                      what README.md and docs/ say: links, names of files, examples
#   tests/fuzz/fuzz_*.c                           libFuzzer targets, with TALLY_FUZZ=ON
#
# Each gets TALLY (the command), TALLY_BENCH (tally-bench), TALLY_LIBRARY (the shared library, if one is built), SRCDIR and
# BUILDDIR in its environment, prints its seed if it is random, and exits with 77 when it cannot run.
# Its label is its folder.

# Those that take longest start first; test_nvrtc, which has a thread a processor, before all.
set(TALLY_LONG
    differential/test_opencl device/test_oclgrind device/test_faults differential/test_many_bins mpi/test_command
    differential/methods_on_opencl differential/test_own cli/test_lists bench/test_figures device/test_statistics
    device/test_statistics_packed device/test_quantiles cli/test_streaming cli/test_opencl differential/test_edges
    differential/test_opencl_packed16 device/test_queue device/test_host)
cmake_host_system_information(RESULT TALLY_PROCESSORS QUERY NUMBER_OF_LOGICAL_CORES)

# PoCL's optimiser, which scripts/check.sh switches off, is met by every method here, and serves
# those that count for long by few kernels. The library itself keeps it from quantiles.
set(TALLY_OPTIMISED differential/test_opencl differential/test_opencl_keys
    differential/test_opencl_packed16 device/test_host device/test_quantiles)

function(tally_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL;TIMEOUT" "COMMAND;ENVIRONMENT")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 900) # against hanging; no test of speed
  endif()
  add_test(NAME ${name} COMMAND ${arg_COMMAND})
  set(environment "SRCDIR=${PROJECT_SOURCE_DIR}" "BUILDDIR=${PROJECT_BINARY_DIR}"
                  "CC=${CMAKE_C_COMPILER}" "SANITIZE=${TALLY_SANITIZE}" "TALLY_KERNELS_FILE=none"
                  ${arg_ENVIRONMENT})
  if(TALLY_SANITIZE MATCHES "address")
    list(APPEND environment
         "LSAN_OPTIONS=print_suppressions=0:suppressions=${PROJECT_SOURCE_DIR}/tests/lsan.supp")
    # Shadow of freed blocks is cleared where it is: mapped anew, every page of it faults again.
    set(sanitizer "clear_shadow_mmap_threshold=67108864")
    if(name MATCHES "opencl|test_sums") # the drivers' compilers leak by design
      string(APPEND sanitizer ":detect_leaks=0")
    elseif(name MATCHES "hdf5") # tests/lsan.supp names a function of that library
      string(APPEND sanitizer ":fast_unwind_on_malloc=0")
    endif()
    list(APPEND environment "ASAN_OPTIONS=${sanitizer}")
  endif()
  if(name IN_LIST TALLY_OPTIMISED)
    list(APPEND environment "POCL_EXTRA_BUILD_FLAGS=")
  endif()
  if(name STREQUAL "unit/test_nvrtc") # what passed is not compiled again
    list(APPEND environment "TALLY_CACHE_DIR=${PROJECT_BINARY_DIR}/kernels")
  endif()
  # Under sanitizers the command meets no OpenCL driver, whose own leaks would be reported.
  if(TALLY_SANITIZE AND arg_LABEL MATCHES "^(cli|bench)$")
    list(APPEND environment "OCL_ICD_VENDORS=${PROJECT_BINARY_DIR}/no-vendors")
  endif()
  if(TARGET tally_command)
    list(APPEND environment "TALLY=$<TARGET_FILE:tally_command>")
  endif()
  if(TARGET tally_bench)
    list(APPEND environment "TALLY_BENCH=$<TARGET_FILE:tally_bench>")
  endif()
  if(BUILD_SHARED_LIBS)
    list(APPEND environment "TALLY_LIBRARY=$<TARGET_FILE:tally>")
  endif()
  set_tests_properties(
    ${name} PROPERTIES ENVIRONMENT "${environment}" LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT}
                       SKIP_RETURN_CODE 77)
  if(name IN_LIST TALLY_LONG)
    set_tests_properties(${name} PROPERTIES COST 60)
  elseif(name STREQUAL "unit/test_nvrtc")
    set_tests_properties(${name} PROPERTIES COST 120 PROCESSORS ${TALLY_PROCESSORS})
  endif()
endfunction()

# Arguments under sanitizers.
set(TALLY_FEWER_test_edges 20261121 opencl 6000)
set(TALLY_FEWER_test_many_bins 20261121 20000 4) # one case in 4
set(TALLY_FEWER_test_faults 5) # one call in 5
set(TALLY_FEWER_test_kernels_file 20261121 40)
set(TALLY_FEWER_test_methods 20261121 1000)
set(TALLY_FEWER_test_number 20240607 10)
set(TALLY_FEWER_test_number_portable 20240607 10)
set(TALLY_FEWER_test_properties 20261121 1000)
set(TALLY_FEWER_test_text_parts 20261122 300)
set(TALLY_FEWER_test_text_tables 20240607 1500)
set(TALLY_FEWER_test_opencl 20261121 10)
set(TALLY_FEWER_test_own 20261121 opencl 60000)

# Packages that the library opens, and a test links to write or read files without it.
set(TALLY_LINKS_test_damage TIFF)
set(TALLY_LINKS_test_tiff TIFF)
set(TALLY_LINKS_test_write CAIRO)

# What every test program is compiled with: quickly, for it runs once. Assertions are on in every kind of build.
add_library(tests_settings INTERFACE)
target_compile_options(tests_settings INTERFACE -UNDEBUG -O1)
target_include_directories(tests_settings INTERFACE ${PROJECT_SOURCE_DIR}/tests/common ${PROJECT_SOURCE_DIR}/common
                                                    ${TALLY_LOADED_INCLUDES})
target_compile_definitions(tests_settings INTERFACE ${TALLY_LOADED})
target_link_libraries(tests_settings INTERFACE tally_internal)
file(GLOB common CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/common/*.c ${PROJECT_SOURCE_DIR}/common/*.c)
add_library(tests_common OBJECT ${common})
target_link_libraries(tests_common PUBLIC tests_settings)

# Programs that reach into the library.
function(tally_test_programs folder)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${folder}/*.c)
  set(programs ${sources})
  set(shared ${sources})
  list(FILTER programs INCLUDE REGEX "/test_[^/]*\\.c$")
  list(FILTER shared EXCLUDE REGEX "/test_[^/]*\\.c$")
  set(helpers tests_common)
  if(shared)
    list(APPEND helpers tests_${folder})
    add_library(tests_${folder} OBJECT ${shared})
    target_link_libraries(tests_${folder} PUBLIC tests_settings)
  endif()
  foreach(source IN LISTS programs)
    get_filename_component(stem ${source} NAME_WE)
    set(program ${folder}_${stem})
    add_executable(${program} ${source})
    set_target_properties(
      ${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/${folder}
                            OUTPUT_NAME ${stem})
    target_link_libraries(${program} PRIVATE ${helpers})
    set(package ${TALLY_LINKS_${stem}})
    if(package AND TALLY_HAVE_${package})
      target_link_libraries(${program} PRIVATE PkgConfig::TALLY_${package})
    endif()
    set(arguments)
    if(TALLY_SANITIZE) # kernels are not instrumented: fewer of them
      set(arguments ${TALLY_FEWER_${stem}})
    endif()
    tally_test(${folder}/${stem} LABEL ${folder} COMMAND ${program} ${arguments})
    set(TALLY_TEST_PROGRAMS ${TALLY_TEST_PROGRAMS} ${program})
  endforeach()
  set(TALLY_TEST_PROGRAMS ${TALLY_TEST_PROGRAMS} PARENT_SCOPE)
endfunction()

# A Python with NumPy, Debian's before others. Without one the tests say that they are skipped.
if(NOT TALLY_PYTHON)
  foreach(candidate IN ITEMS /usr/bin/python3 python3)
    execute_process(
      COMMAND ${candidate} -c "import numpy" RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(NOT failed)
      set(TALLY_PYTHON ${candidate} CACHE STRING "A Python that has NumPy, for the tests")
      break()
    endif()
  endforeach()
endif()

function(tally_test_scripts folder)
  file(GLOB scripts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${folder}/test_*.py
       ${PROJECT_SOURCE_DIR}/tests/${folder}/test_*.sh)
  foreach(script IN LISTS scripts)
    get_filename_component(stem ${script} NAME_WE)
    if(script MATCHES "\\.sh$")
      tally_test(${folder}/${stem} LABEL ${folder} COMMAND bash ${script})
    elseif(TALLY_PYTHON)
      tally_test(${folder}/${stem} LABEL ${folder} COMMAND ${TALLY_PYTHON} ${script})
    else()
      tally_test(${folder}/${stem} LABEL ${folder}
                 COMMAND sh -c "echo 'skipped: no python3 here has NumPy'; exit 77")
    endif()
  endforeach()
endfunction()

foreach(folder IN ITEMS unit property differential)
  tally_test_programs(${folder})
  tally_test_scripts(${folder})
endforeach()
include(TallyDeviceTests)
if(TALLY_SQLITE AND TALLY_PYTHON)
  tally_test(sql/test_sqlite LABEL sql COMMAND ${TALLY_PYTHON} ${PROJECT_SOURCE_DIR}/tests/sql/test_sqlite.py $<TARGET_FILE:tally_sqlite>)
endif()
if(TARGET tally_command)
  tally_test_scripts(cli)
  tally_test_scripts(docs)
  if(TARGET tally_bench)
    tally_test_scripts(bench)
  endif()
endif()
tally_test_scripts(install)

# Random plans for the kernels: most are built anew, so this stops after some seconds. Sanitizers do not see kernels.
set(seconds 4)
if(TALLY_SANITIZE)
  set(seconds 3)
endif()
tally_test(differential/methods_on_opencl LABEL differential
           COMMAND differential_test_methods - 100000 opencl ${seconds})
tally_test(differential/sources_on_opencl LABEL differential
           COMMAND differential_test_sources - 100000 opencl 2)

# The differential programs once more on the lesser sets of loops: those of AVX2 and of the baseline.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  file(GLOB programs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/differential/test_*.c)
  list(FILTER programs EXCLUDE REGEX "opencl|many_bins|edges|flow_bins|own|sums|sources") # no part of these hangs on them
  foreach(feature IN ITEMS avx512 avx2)
    foreach(source IN LISTS programs)
      get_filename_component(stem ${source} NAME_WE)
      set(arguments)
      if(stem STREQUAL test_methods)
        set(arguments - 1500)
      endif()
      tally_test(features/${stem}-without-${feature} LABEL features COMMAND differential_${stem} ${arguments}
                 ENVIRONMENT TALLY_DISABLE_CPU=${feature})
    endforeach()
    tally_test(features/test_text_parts-without-${feature} LABEL features COMMAND unit_test_text_parts
               ENVIRONMENT TALLY_DISABLE_CPU=${feature})
  endforeach()
endif()

if(TALLY_FUZZ)
  include(TallyFuzz)
endif()
