# SPDX-License-Identifier: Apache-2.0
# Two libraries: libtally counts and needs the C library alone; libtally-io has results, files and
# pictures, and is the only user of the optional packages. Every source is compiled once, into
# objects, but for the loops over samples (TallyIsa.cmake): both libraries are made from them, and so is tally_internal, a static library of all whose
# hidden symbols the tests and small benchmarks can reach.

file(GLOB_RECURSE TALLY_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.c)
set(TALLY_SYSTEM core/dynlib core/system)
if(WIN32) # the processor alone
  set(TALLY_SYSTEM core/system_windows)
  list(FILTER TALLY_SOURCES EXCLUDE REGEX "/(core/(dynlib|system)|gpu/(cache|kernels_file))\\.c$")
else()
  list(FILTER TALLY_SOURCES EXCLUDE REGEX "windows\\.c$")
endif()
file(GLOB TALLY_IO_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/io/*.c)
tally_isa_objects(tally TALLY_SOURCES TALLY_ISA_OBJECTS)
tally_isa_objects(tally_io TALLY_IO_SOURCES TALLY_IO_ISA_OBJECTS)

# What both need of src/: it exports nothing, and each library has its own copy. All that is kept
# between calls there is the tests' count of allocations and what the processor can.
set(TALLY_CORE_SOURCES "")
foreach(name IN ITEMS core/alloc core/env core/error core/memory core/source core/text core/view cpu/features cpu/threads ${TALLY_SYSTEM})
  list(APPEND TALLY_CORE_SOURCES ${PROJECT_SOURCE_DIR}/src/${name}.c)
endforeach()
list(REMOVE_ITEM TALLY_SOURCES ${TALLY_CORE_SOURCES})

# A method on a graphics processor is a file, src/gpu/methods/NAME.c, that defines ty_NAME. All of
# them, by the text that they are from and their name, for the registry; and the names of the
# kernels' texts.
set(TALLY_GENERATED ${PROJECT_BINARY_DIR}/generated)
file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/gpu/methods/*.c
     ${PROJECT_SOURCE_DIR}/src/gpu/methods/published/*.c)
set(methods)
foreach(file IN LISTS files)
  file(STRINGS ${file} row REGEX "^const ty_method ty_[a-z0-9_]+ =")
  if(row)
    file(STRINGS ${file} source REGEX "^ *\\.source = ")
    string(REGEX REPLACE ".*ty_method ty_([a-z0-9_]+) =.*" "\\1" name "${row}")
    string(REGEX REPLACE ".*\"(.*)\".*" "\\1" source "${source}")
    list(APPEND methods "${source}:${name}")
  endif()
endforeach()
list(SORT methods)
list(TRANSFORM methods REPLACE ".*:(.*)" " M(\\1)")
list(JOIN methods "" methods)
file(CONFIGURE OUTPUT ${TALLY_GENERATED}/gpu_methods.h
     CONTENT "/* Made by cmake/TallyLibrary.cmake. */\n#define TY_GPU_METHODS(M)@methods@\n" @ONLY)

# The kernels are text to the library: one generated file holds them all.
file(GLOB TALLY_KERNEL_FILES CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/src/gpu/kernels/*.h ${PROJECT_SOURCE_DIR}/src/gpu/kernels/*.cl
     ${PROJECT_SOURCE_DIR}/src/gpu/kernels/published/*.h
     ${PROJECT_SOURCE_DIR}/src/gpu/kernels/published/*.cl)
foreach(name IN ITEMS dialect bin cell cell_lookup place weight) # those that the host compiles too
  list(APPEND TALLY_KERNEL_FILES ${PROJECT_SOURCE_DIR}/src/binning/${name}.h)
endforeach()
set(texts "/* Made by cmake/TallyLibrary.cmake: src/gpu/kernels and src/binning. */\n")
foreach(file IN LISTS TALLY_KERNEL_FILES)
  get_filename_component(name ${file} NAME)
  string(REGEX REPLACE "\\.cl$" "" name "${name}")
  string(REPLACE "." "_" name "${name}")
  string(APPEND texts "extern const char ty_text_${name}[];\n")
endforeach()
file(CONFIGURE OUTPUT ${TALLY_GENERATED}/kernel_texts.h CONTENT "${texts}" @ONLY)
set(TALLY_KERNELS_TEXT ${PROJECT_BINARY_DIR}/kernels_text.c)
add_custom_command(
  OUTPUT ${TALLY_KERNELS_TEXT}
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${TALLY_KERNELS_TEXT} "-DFILES=${TALLY_KERNEL_FILES}" -P
          ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${TALLY_KERNEL_FILES} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  COMMENT "Embedding the kernels"
  VERBATIM)

function(tally_object_library name)
  add_library(${name} OBJECT ${ARGN})
  target_include_directories(
    ${name}
    PUBLIC ${PROJECT_SOURCE_DIR}/include
    PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src ${TALLY_GENERATED})
  target_link_libraries(${name} PRIVATE Threads::Threads)
endfunction()
tally_object_library(tally_core_objects ${TALLY_CORE_SOURCES})
tally_object_library(tally_objects ${TALLY_SOURCES} ${TALLY_KERNELS_TEXT})
tally_object_library(tally_io_objects ${TALLY_IO_SOURCES})
foreach(name IN LISTS TALLY_PACKAGES)
  list(APPEND TALLY_DEFINITIONS TALLY_HAVE_${name}=${TALLY_HAVE_${name}})
endforeach()
target_compile_definitions(tally_io_objects PRIVATE ${TALLY_DEFINITIONS} ${TALLY_LOADED})
target_include_directories(tally_io_objects SYSTEM PRIVATE ${TALLY_LOADED_INCLUDES})
target_link_libraries(tally_io_objects PRIVATE ${TALLY_PACKAGE_TARGETS})
# Where the kernels file is if not beside the library: a wheel has no such place.
if(NOT TALLY_WHEEL)
  set_property(
    SOURCE ${PROJECT_SOURCE_DIR}/src/gpu/kernels_file.c
    APPEND PROPERTY COMPILE_DEFINITIONS TALLY_KERNELS_FOLDER="${CMAKE_INSTALL_FULL_LIBDIR}")
endif()

add_library(tally $<TARGET_OBJECTS:tally_objects> ${TALLY_ISA_OBJECTS}
                  $<TARGET_OBJECTS:tally_core_objects>)
add_library(tally_io $<TARGET_OBJECTS:tally_io_objects> ${TALLY_IO_ISA_OBJECTS})
add_library(tally::tally ALIAS tally)
add_library(tally::io ALIAS tally_io)
foreach(target IN ITEMS tally tally_io)
  target_include_directories(
    ${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                     $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set_target_properties(
    ${target} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
                         LINKER_LANGUAGE C)
endforeach()
# libtally is found beside it, installed or not.
set_target_properties(
  tally_io PROPERTIES OUTPUT_NAME tally-io EXPORT_NAME io INSTALL_RPATH "$ORIGIN"
                      BUILD_WITH_INSTALL_RPATH ON)

# The interface of the optional packages stays inside: a static library's users get them by name.
set(TALLY_LINK Threads::Threads m ${CMAKE_DL_LIBS})
set(TALLY_IO_LINK ${TALLY_PACKAGE_TARGETS} Threads::Threads m ${CMAKE_DL_LIBS})
# On riscv64 gcc 12 leaves atomic bytes to libatomic.
include(CheckCSourceCompiles)
check_c_source_compiles("int main(void) { char c = 0, old = 0; return !__atomic_compare_exchange_n(&c, &old, 1, 1, 0, 0); }"
                        TALLY_HAVE_ATOMIC_BYTES)
if(NOT TALLY_HAVE_ATOMIC_BYTES)
  list(APPEND TALLY_LINK atomic)
  set(TALLY_PC_ATOMIC " -latomic")
endif()
target_link_libraries(tally_io PUBLIC tally)
if(BUILD_SHARED_LIBS)
  target_sources(tally_io PRIVATE $<TARGET_OBJECTS:tally_core_objects>)
  target_link_libraries(tally PRIVATE ${TALLY_LINK})
  target_link_libraries(tally_io PRIVATE ${TALLY_IO_LINK})
  if(NOT TALLY_SANITIZE)
    target_link_options(tally PRIVATE -Wl,--no-undefined)
    target_link_options(tally_io PRIVATE -Wl,--no-undefined)
  endif()
  include(CheckLinkerFlag)
  check_linker_flag(C "LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/libtally.map" TALLY_HAVE_LINK_versions)
  if(TALLY_HAVE_LINK_versions)
    foreach(name IN ITEMS tally tally-io)
      string(REPLACE "-" "_" target ${name})
      set(map ${PROJECT_SOURCE_DIR}/cmake/lib${name}.map)
      target_link_options(${target} PRIVATE "LINKER:--version-script=${map}")
      set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${map})
    endforeach()
  endif()
  # tally_histogram's context has threads until the process ends: dlclose must leave their code.
  if(NOT WIN32)
    target_link_options(tally PRIVATE -Wl,-z,nodelete)
  endif()
else()
  target_link_libraries(tally PUBLIC ${TALLY_LINK})
  target_link_libraries(tally_io PUBLIC ${TALLY_IO_LINK})
endif()

add_library(
  tally_internal STATIC EXCLUDE_FROM_ALL
  $<TARGET_OBJECTS:tally_objects> ${TALLY_ISA_OBJECTS} $<TARGET_OBJECTS:tally_core_objects>
  $<TARGET_OBJECTS:tally_io_objects> ${TALLY_IO_ISA_OBJECTS})
target_include_directories(
  tally_internal PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include
                        ${PROJECT_SOURCE_DIR}/src ${TALLY_GENERATED})
target_compile_definitions(tally_internal PUBLIC ${TALLY_DEFINITIONS})
target_link_libraries(tally_internal PUBLIC ${TALLY_LINK} ${TALLY_IO_LINK})
set_target_properties(tally_internal PROPERTIES LINKER_LANGUAGE C)
