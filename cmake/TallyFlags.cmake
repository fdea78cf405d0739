# Language, warnings, sanitizers, and the instruction sets of single files.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON) # POSIX and the processor's intrinsics
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, RelWithDebInfo or Debug" FORCE)
endif()
# Assertions stay out of releases. -O3: the loops are written to be vectorised.
set(CMAKE_C_FLAGS_RELEASE "-O3 -DNDEBUG")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O3 -g -DNDEBUG")

# Contraction off: fused and unfused arithmetic would put samples in different bins.
add_compile_options(-Wall -Wextra -Wpedantic -ffp-contract=off)
if(TALLY_WERROR)
  add_compile_options(-Werror)
endif()
if(TALLY_SANITIZE)
  add_compile_options(-fsanitize=${TALLY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TALLY_SANITIZE})
endif()

# What src/cpu/features.h calls the levels AVX2 and AVX512. Only these files are compiled with them;
# the library asks the processor before it calls one. Elsewhere the files compile to nothing.
set(TALLY_FLAGS_AVX2 -mavx2 -mbmi -mbmi2 -mlzcnt -mpopcnt -mf16c -mfma)
set(TALLY_FLAGS_AVX512
    ${TALLY_FLAGS_AVX2} -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512cd -mavx512vbmi
    -mavx512vbmi2 -mgfni -mavx512bitalg -mavx512vpopcntdq -mprefer-vector-width=512)

function(tally_isa_flags)
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" OR NOT CMAKE_SIZEOF_VOID_P EQUAL 8)
    return()
  endif()
  foreach(source IN LISTS ARGN)
    if(source MATCHES "_avx2\\.c$")
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS ${TALLY_FLAGS_AVX2})
    elseif(source MATCHES "_avx512\\.c$")
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS ${TALLY_FLAGS_AVX512})
    endif()
  endforeach()
endfunction()
