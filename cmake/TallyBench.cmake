# SPDX-License-Identifier: Apache-2.0
# tally-bench, its data and its peers; bench/micro_*.c: small programs that time one part from
# inside. ${PROJECT_BINARY_DIR}/bench holds the photographs, the book, and peers/, shared objects made
# from bench/peers/ for the libraries found here.

option(TALLY_BENCH "Build tally-bench" ${TALLY_TOP_LEVEL})
if(TALLY_BENCH)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/src/*.c)
  add_executable(tally_bench ${sources})
  set_target_properties(tally_bench PROPERTIES OUTPUT_NAME tally-bench INSTALL_RPATH "$ORIGIN"
                                               BUILD_WITH_INSTALL_RPATH ON)
  target_link_libraries(tally_bench PRIVATE tally_io Threads::Threads m ${CMAKE_DL_LIBS})
endif()

# What measurements say that they are of: the commit, where there is one.
set(TALLY_COMMIT "" CACHE STRING "What the benchmark's lines call this source (default: git's commit)")
set(commit "${TALLY_COMMIT}")
if(NOT commit AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
  execute_process(
    COMMAND git -C ${PROJECT_SOURCE_DIR} describe --always --dirty --abbrev=12
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process( # asked again after every commit
    COMMAND git -C ${PROJECT_SOURCE_DIR} rev-parse --path-format=absolute --git-path logs/HEAD
    OUTPUT_VARIABLE log OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(EXISTS "${log}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${log}")
  endif()
endif()
set_property(SOURCE ${PROJECT_SOURCE_DIR}/bench/src/figure_measure.c APPEND
             PROPERTY COMPILE_DEFINITIONS TALLY_COMMIT="${commit}")

file(GLOB micro CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/micro_*.c)
foreach(source IN LISTS micro)
  get_filename_component(program ${source} NAME_WE)
  add_executable(${program} EXCLUDE_FROM_ALL ${source})
  set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
  target_link_libraries(${program} PRIVATE tally_internal)
  list(APPEND TALLY_MICRO ${program})
endforeach()
target_sources(micro_own PRIVATE ${PROJECT_SOURCE_DIR}/bench/own_inputs.c)
foreach(program IN ITEMS micro_quantiles micro_statistics)
  target_sources(${program} PRIVATE ${PROJECT_SOURCE_DIR}/bench/gpu_inputs.c)
endforeach()
if(PKG_CONFIG_FOUND)
  pkg_check_modules(TALLY_DEFLATE QUIET IMPORTED_TARGET libdeflate) # micro_inflate's peer
endif()
if(TALLY_DEFLATE_FOUND)
  target_compile_definitions(micro_inflate PRIVATE TALLY_HAVE_DEFLATE=1)
  target_link_libraries(micro_inflate PRIVATE PkgConfig::TALLY_DEFLATE)
endif()
# The GPU benchmark; bench/gpu.sh builds and runs it, with peers made by nvcc.
add_executable(gpu_bench EXCLUDE_FROM_ALL
               ${PROJECT_SOURCE_DIR}/bench/gpu_bench.c ${PROJECT_SOURCE_DIR}/bench/gpu_bench_peers.c
               ${PROJECT_SOURCE_DIR}/bench/gpu_inputs.c)
set_target_properties(gpu_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
target_link_libraries(gpu_bench PRIVATE tally_internal)
list(APPEND TALLY_MICRO gpu_bench)
if(TALLY_MICRO)
  add_custom_target(bench DEPENDS ${TALLY_MICRO})
endif()

foreach(file IN ITEMS photograph.png camera.png coins.png book.txt.gz)
  configure_file(${PROJECT_SOURCE_DIR}/data/${file} ${PROJECT_BINARY_DIR}/bench/${file} COPYONLY)
endforeach()

option(TALLY_PEERS "Build the benchmark's peers for the libraries that are found"
       ${TALLY_TOP_LEVEL})
if(NOT TALLY_PEERS OR NOT TALLY_BENCH OR TALLY_SANITIZE)
  return()
endif()

set(TALLY_PEERS_FOLDER ${PROJECT_BINARY_DIR}/bench/peers)
configure_file(${PROJECT_SOURCE_DIR}/bench/peers/peers.py ${TALLY_PEERS_FOLDER}/peers.py COPYONLY)

function(tally_peer source)
  get_filename_component(name ${source} NAME_WE)
  add_library(peer_${name} MODULE ${PROJECT_SOURCE_DIR}/bench/peers/${source})
  set_target_properties(
    peer_${name} PROPERTIES PREFIX "" SUFFIX ".so" OUTPUT_NAME ${name} CXX_STANDARD 17
                            CXX_VISIBILITY_PRESET hidden LIBRARY_OUTPUT_DIRECTORY
                            ${TALLY_PEERS_FOLDER})
  target_compile_options(peer_${name} PRIVATE -O3)
  target_include_directories(peer_${name} PRIVATE ${PROJECT_SOURCE_DIR}/bench/src)
  target_link_libraries(peer_${name} PRIVATE ${ARGN})
endfunction()

tally_peer(loops.c)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(TALLY_GSL QUIET IMPORTED_TARGET gsl)
endif()
if(TALLY_GSL_FOUND)
  tally_peer(gsl.c PkgConfig::TALLY_GSL)
endif()

# Those in C++: the language is asked for only when there is something to compile.
find_path(TALLY_BOOST_INCLUDE boost/histogram.hpp)
find_path(TALLY_OPENCV_INCLUDE opencv2/imgproc.hpp PATH_SUFFIXES opencv4)
find_library(TALLY_OPENCV_CORE opencv_core)
find_library(TALLY_OPENCV_IMGPROC opencv_imgproc)
mark_as_advanced(TALLY_BOOST_INCLUDE TALLY_OPENCV_INCLUDE TALLY_OPENCV_CORE TALLY_OPENCV_IMGPROC)
if(NOT TALLY_BOOST_INCLUDE AND NOT TALLY_OPENCV_INCLUDE)
  return()
endif()
include(CheckLanguage)
check_language(CXX)
if(NOT CMAKE_CXX_COMPILER)
  return()
endif()
enable_language(CXX)
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")
if(TALLY_BOOST_INCLUDE)
  tally_peer(boost.cpp)
  target_include_directories(peer_boost SYSTEM PRIVATE ${TALLY_BOOST_INCLUDE})
endif()
if(TALLY_OPENCV_INCLUDE AND TALLY_OPENCV_CORE AND TALLY_OPENCV_IMGPROC)
  tally_peer(opencv.cpp ${TALLY_OPENCV_IMGPROC} ${TALLY_OPENCV_CORE})
  target_include_directories(peer_opencv SYSTEM PRIVATE ${TALLY_OPENCV_INCLUDE})
endif()
