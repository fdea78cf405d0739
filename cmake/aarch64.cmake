# SPDX-License-Identifier: Apache-2.0
# Toolchain of the wheel for aarch64: the cross compiler, with libraries and CPython's headers from build/aarch64-root, which
# scripts/wheel_aarch64.sh makes.
get_filename_component(CMAKE_SYSROOT ${CMAKE_CURRENT_LIST_DIR}/../build/aarch64-root ABSOLUTE)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
foreach(kind IN ITEMS LIBRARY INCLUDE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
set(Python_INCLUDE_DIR ${CMAKE_SYSROOT}/usr/include/python3.11)
