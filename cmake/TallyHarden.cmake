# SPDX-License-Identifier: Apache-2.0
# What is built to be used, not debugged: hardened where compiler and linker can, and the same bytes
# from any folder. Fuzzers and sanitizers bring checks of their own.

include(CheckCCompilerFlag)
include(CheckLinkerFlag)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C) # the command is position-independent too

if(CMAKE_BUILD_TYPE STREQUAL "Debug" OR TALLY_SANITIZE)
  return()
endif()

foreach(flag IN ITEMS -fstack-protector-strong -fcf-protection)
  string(MAKE_C_IDENTIFIER "TALLY_HAVE${flag}" have)
  check_c_compiler_flag(${flag} ${have})
  if(${have})
    add_compile_options(${flag})
  endif()
endforeach()
if(NOT "${CMAKE_C_FLAGS}" MATCHES "_FORTIFY_SOURCE") # what a distribution asks for stays
  add_compile_options($<$<COMPILE_LANGUAGE:C>:-U_FORTIFY_SOURCE> $<$<COMPILE_LANGUAGE:C>:-D_FORTIFY_SOURCE=2>)
endif()
# The loops over samples, by far the hottest code, keep their tables on the stack, and every sample's
# index is bounded by what the plan proves: there the check costs 4 % of float32 samples in 256 bins.
if(TALLY_HAVE_fstack_protector_strong)
  set(TALLY_LOOP_FLAGS -fno-stack-protector) # TallyIsa.cmake
endif()

foreach(flag IN ITEMS relro now noexecstack)
  check_linker_flag(C "LINKER:-z,${flag}" TALLY_HAVE_LINK_${flag})
  if(TALLY_HAVE_LINK_${flag})
    add_link_options("LINKER:-z,${flag}")
  endif()
endforeach()

# No folder of the build in what is built: __FILE__ and debug information are relative.
check_c_compiler_flag(-ffile-prefix-map=a=b TALLY_HAVE_PREFIX_MAP)
if(TALLY_HAVE_PREFIX_MAP)
  add_compile_options("-ffile-prefix-map=${PROJECT_BINARY_DIR}=build" "-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.")
endif()
