# SPDX-License-Identifier: Apache-2.0
# What a Python wheel holds besides python/tally: the libraries and the command, in the package.

set_target_properties(tally tally_io PROPERTIES VERSION ${PROJECT_VERSION_MAJOR})
install(TARGETS tally tally_io LIBRARY DESTINATION tally/lib COMPONENT python NAMELINK_SKIP)
if(TARGET tally_command)
  install(TARGETS tally_command RUNTIME DESTINATION tally/bin COMPONENT python)
endif()

install(FILES ${TALLY_KERNELS_FILE} DESTINATION tally/lib COMPONENT python OPTIONAL)
install(TARGETS tally_fast LIBRARY DESTINATION tally COMPONENT python)
