# SPDX-License-Identifier: Apache-2.0
# tally._fast, the compiled part of the Python package: CPython's stable interface, so that one file serves every
# CPython from 3.9 on. Its headers have had all of it since 3.11. A wheel is not built without it, nor with TALLY_FAST=ON; a build for the
# tests has it where there are such headers.

set(TALLY_FAST_REQUIRED "")
if(TALLY_WHEEL OR TALLY_FAST)
  set(TALLY_FAST_REQUIRED REQUIRED)
endif()
find_package(Python 3.11 COMPONENTS Interpreter Development.Module ${TALLY_FAST_REQUIRED})
if(Python_Development.Module_FOUND AND NOT Python_SOABI MATCHES "t-")
  file(GLOB tally_fast_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/fast/*.c)
  tally_isa_objects(tally_fast tally_fast_sources tally_fast_loops)
  Python_add_library(tally_fast MODULE ${tally_fast_sources} ${tally_fast_loops})
  set_target_properties(
    tally_fast PROPERTIES OUTPUT_NAME _fast SUFFIX .abi3.so C_VISIBILITY_PRESET hidden
                          LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  target_compile_definitions(tally_fast PRIVATE Py_LIMITED_API=0x030b0000)
  target_compile_options(tally_fast PRIVATE -fno-trapping-math) # comparisons become vectors
  target_include_directories(tally_fast PRIVATE ${PROJECT_SOURCE_DIR}/include)
elseif(TALLY_WHEEL OR TALLY_FAST)
  message(FATAL_ERROR "The Python package is built by CPython 3.11 or later with the interpreter's lock, not by ${Python_SOABI}")
else()
  message(STATUS "No headers of CPython 3.11 or later: tally._fast is not built")
endif()
