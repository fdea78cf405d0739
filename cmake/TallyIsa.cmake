# SPDX-License-Identifier: Apache-2.0
# The loops over samples, compiled once for each instruction set:
#
#   NAME_loops.c                 once for each, with TY_ISA its name (src/cpu/isa.h)
#   NAME_avx2.c, NAME_avx512.c   for that one only
#
# The library asks the processor before it calls what was compiled for more than the baseline.

# What src/cpu/features.h calls the levels AVX2 and AVX512.
set(TALLY_ISAS base)
set(TALLY_FLAGS_base)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
  list(APPEND TALLY_ISAS avx2 avx512)
endif()
set(TALLY_FLAGS_avx2 -mavx2 -mbmi -mbmi2 -mlzcnt -mpopcnt -mf16c -mfma)
set(TALLY_FLAGS_avx512
    ${TALLY_FLAGS_avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512cd -mavx512vbmi
    -mavx512vbmi2 -mgfni -mavx512bitalg -mavx512vpopcntdq -mprefer-vector-width=512)

# Takes these files out of the list SOURCES and makes the object libraries NAME_base, NAME_avx2 and
# NAME_avx512 of them; OBJECTS becomes their objects.
function(tally_isa_objects name sources objects_of)
  set(loops ${${sources}})
  list(FILTER loops INCLUDE REGEX "_loops\\.c$")
  set(objects)
  foreach(isa IN LISTS TALLY_ISAS)
    set(own ${${sources}})
    list(FILTER own INCLUDE REGEX "_${isa}\\.c$")
    add_library(${name}_${isa} OBJECT ${loops} ${own})
    target_include_directories(
      ${name}_${isa} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
    target_compile_definitions(${name}_${isa} PRIVATE TY_ISA=${isa})
    target_compile_options(${name}_${isa} PRIVATE ${TALLY_FLAGS_${isa}} ${TALLY_LOOP_FLAGS})
    list(APPEND objects $<TARGET_OBJECTS:${name}_${isa}>)
  endforeach()
  list(FILTER ${sources} EXCLUDE REGEX "_(loops|base|avx2|avx512)\\.c$")
  set(${sources} ${${sources}} PARENT_SCOPE)
  set(${objects_of} ${objects} PARENT_SCOPE)
endfunction()
