# What a Python wheel holds besides python/tally: the library and the command, in the package.

set_target_properties(tally PROPERTIES VERSION ${PROJECT_VERSION_MAJOR})
install(TARGETS tally LIBRARY DESTINATION tally/lib COMPONENT python NAMELINK_SKIP)
if(TARGET tally_command)
  install(TARGETS tally_command RUNTIME DESTINATION tally/bin COMPONENT python)
endif()
