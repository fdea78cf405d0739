# SPDX-License-Identifier: Apache-2.0
# What a Python wheel holds besides python/libtally: the libraries and the command, in the package.

set_target_properties(tally tally_io PROPERTIES VERSION ${PROJECT_VERSION_MAJOR})
install(TARGETS tally tally_io LIBRARY DESTINATION libtally/lib COMPONENT python NAMELINK_SKIP)
if(TARGET tally_command)
  install(TARGETS tally_command RUNTIME DESTINATION libtally/bin COMPONENT python)
endif()

install(FILES ${TALLY_KERNELS_FILE} DESTINATION libtally/lib COMPONENT python OPTIONAL)
install(TARGETS tally_fast LIBRARY DESTINATION libtally COMPONENT python)
