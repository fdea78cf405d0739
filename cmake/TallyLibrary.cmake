# Every source is compiled once, into tally_objects, but for the loops over samples (TallyIsa.cmake):
# the library proper is made from them, and so is
# tally_internal, a static library whose hidden symbols the tests and small benchmarks can reach.

file(GLOB_RECURSE TALLY_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.c
     ${PROJECT_SOURCE_DIR}/io/*.c)
tally_isa_objects(TALLY_SOURCES)

# A method on a graphics processor is a file, src/gpu/methods/NAME.c, that defines ty_NAME. All of
# them, by the text that they are from and their name, for the registry; and the names of the
# kernels' texts.
set(TALLY_GENERATED ${PROJECT_BINARY_DIR}/generated)
file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/gpu/methods/*.c)
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
file(GLOB TALLY_KERNELS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/kernels/*.h
     ${PROJECT_SOURCE_DIR}/src/kernels/*.cl)
set(texts "/* Made by cmake/TallyLibrary.cmake: src/kernels. */\n")
foreach(file IN LISTS TALLY_KERNELS)
  get_filename_component(name ${file} NAME)
  string(REGEX REPLACE "\\.cl$" "" name "${name}")
  string(REPLACE "." "_" name "${name}")
  string(APPEND texts "extern const char ty_text_${name}[];\n")
endforeach()
file(CONFIGURE OUTPUT ${TALLY_GENERATED}/kernel_texts.h CONTENT "${texts}" @ONLY)
set(TALLY_KERNELS_TEXT ${PROJECT_BINARY_DIR}/kernels_text.c)
add_custom_command(
  OUTPUT ${TALLY_KERNELS_TEXT}
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${TALLY_KERNELS_TEXT} "-DFILES=${TALLY_KERNELS}" -P
          ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${TALLY_KERNELS} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  COMMENT "Embedding the kernels"
  VERBATIM)

add_library(tally_objects OBJECT ${TALLY_SOURCES} ${TALLY_KERNELS_TEXT})
target_include_directories(
  tally_objects
  PUBLIC ${PROJECT_SOURCE_DIR}/include
  PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src ${TALLY_GENERATED})
foreach(name IN LISTS TALLY_PACKAGES)
  list(APPEND TALLY_DEFINITIONS TALLY_HAVE_${name}=${TALLY_HAVE_${name}})
endforeach()
target_compile_definitions(tally_objects PRIVATE ${TALLY_DEFINITIONS})
set_property(
  SOURCE ${PROJECT_SOURCE_DIR}/src/gpu/kernels_file.c
  APPEND PROPERTY COMPILE_DEFINITIONS TALLY_KERNELS_FOLDER="${CMAKE_INSTALL_FULL_LIBDIR}")
target_link_libraries(tally_objects PRIVATE Threads::Threads ${TALLY_PACKAGE_TARGETS})

add_library(tally $<TARGET_OBJECTS:tally_objects> ${TALLY_ISA_OBJECTS})
add_library(tally::tally ALIAS tally)
target_include_directories(
  tally PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
               $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
set_target_properties(
  tally PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
                   LINKER_LANGUAGE C)

# The interface of the optional packages stays inside: a static library's users get them by name.
set(TALLY_LINK Threads::Threads m ${CMAKE_DL_LIBS} ${TALLY_PACKAGE_TARGETS})
if(BUILD_SHARED_LIBS)
  target_link_libraries(tally PRIVATE ${TALLY_LINK})
  if(NOT TALLY_SANITIZE)
    target_link_options(tally PRIVATE -Wl,--no-undefined)
  endif()
  # tally_histogram's context has threads until the process ends: dlclose must leave their code.
  target_link_options(tally PRIVATE -Wl,-z,nodelete)
else()
  target_link_libraries(tally PUBLIC ${TALLY_LINK})
endif()

add_library(tally_internal STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:tally_objects>
                                                   ${TALLY_ISA_OBJECTS})
target_include_directories(
  tally_internal PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include
                        ${PROJECT_SOURCE_DIR}/src ${TALLY_GENERATED})
target_compile_definitions(tally_internal PUBLIC ${TALLY_DEFINITIONS})
target_link_libraries(tally_internal PUBLIC ${TALLY_LINK})
set_target_properties(tally_internal PROPERTIES LINKER_LANGUAGE C)
