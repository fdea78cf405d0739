# SPDX-License-Identifier: Apache-2.0
# MPI, for the program tally-mpi and the tests of tally/mpi.h. The libraries know nothing of it.

set(TALLY_WITH_MPI AUTO CACHE STRING "tally-mpi: AUTO, ON or OFF")
set_property(CACHE TALLY_WITH_MPI PROPERTY STRINGS AUTO ON OFF)
set(TALLY_HAVE_MPI 0)
set(note "no: switched off")
if(TALLY_WITH_MPI STREQUAL "AUTO" OR TALLY_WITH_MPI)
  find_package(MPI QUIET COMPONENTS C)
  if(MPI_C_FOUND)
    set(TALLY_HAVE_MPI 1)
    set(note "MPI ${MPI_C_VERSION}")
  elseif(TALLY_WITH_MPI STREQUAL "AUTO")
    set(note "no: an MPI for C (libopenmpi-dev) is missing")
  else()
    message(FATAL_ERROR "TALLY_WITH_MPI is ON, but no MPI for C was found. Install one, or say AUTO or OFF.")
  endif()
endif()
message(STATUS "  tally-mpi: ${note}")

if(TALLY_HAVE_MPI AND TALLY_CLI)
  add_executable(tally_mpi ${PROJECT_SOURCE_DIR}/mpi/main.c)
  set_target_properties(
    tally_mpi PROPERTIES OUTPUT_NAME tally-mpi BUILD_WITH_INSTALL_RPATH ON
                         INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR};$ORIGIN")
  target_link_libraries(tally_mpi PRIVATE tally_cli_objects MPI::MPI_C)
  install(TARGETS tally_mpi)
endif()
