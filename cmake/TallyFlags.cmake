# SPDX-License-Identifier: Apache-2.0
# Language, warnings and sanitizers.

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
if(WIN32)
  # %zu and the like are C's, but gcc takes a format for Microsoft's. And it aligns no stack for vectors of 32 bytes there (its bug
  # 54412): the assembler makes their moves such as need none.
  add_compile_definitions(__USE_MINGW_ANSI_STDIO=1)
  add_compile_options(-Wno-format -Wno-format-extra-args -Wa,-muse-unaligned-vector-move)
  add_link_options(-static -fstack-protector-strong) # gcc's and the threads' own libraries inside
endif()
if(TALLY_WERROR)
  add_compile_options(-Werror)
endif()
if(TALLY_SANITIZE)
  add_compile_options(-fsanitize=${TALLY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TALLY_SANITIZE})
  # A hundred programs that hold all of the library: LLVM's linker takes half the time of GNU's.
  include(CheckLinkerFlag)
  check_linker_flag(C -fuse-ld=lld TALLY_HAVE_LLD)
  if(TALLY_HAVE_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
endif()
