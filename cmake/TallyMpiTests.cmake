# SPDX-License-Identifier: Apache-2.0
# tests/mpi: each program and script by 1, 2 and 4 ranks, more than there are processors if need be.

if(NOT TALLY_HAVE_MPI OR NOT MPIEXEC_EXECUTABLE OR TALLY_SANITIZE) # whose tools report MPI's own
  return()
endif()
# No network is looked for, and one rank alone starts no daemon: a run takes half the time.
set(TALLY_MPI_ENVIRONMENT OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
    OMPI_MCA_pml=ob1 OMPI_MCA_ess_singleton_isolated=1)

add_executable(mpi_test_reduce ${PROJECT_SOURCE_DIR}/tests/mpi/test_reduce.c)
target_compile_options(mpi_test_reduce PRIVATE -UNDEBUG)
target_include_directories(mpi_test_reduce PRIVATE ${PROJECT_SOURCE_DIR}/tests/common)
target_link_libraries(mpi_test_reduce PRIVATE tally_io MPI::MPI_C m)
set_target_properties(
  mpi_test_reduce PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/mpi
                             OUTPUT_NAME test_reduce)
foreach(ranks IN ITEMS 1 2 4)
  tally_test(mpi/test_reduce-${ranks} LABEL mpi TIMEOUT 60
             COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} $<TARGET_FILE:mpi_test_reduce>
             ENVIRONMENT ${TALLY_MPI_ENVIRONMENT})
endforeach()
if(TARGET tally_mpi AND TARGET tally_command)
  tally_test(mpi/test_command LABEL mpi TIMEOUT 400
             COMMAND bash ${PROJECT_SOURCE_DIR}/tests/mpi/test_command.sh
             ENVIRONMENT ${TALLY_MPI_ENVIRONMENT} MPIEXEC=${MPIEXEC_EXECUTABLE}
                         TALLY_MPI=$<TARGET_FILE:tally_mpi> FAKES=${TALLY_FAKES})
endif()
