# What a Python wheel holds besides python/tally: the libraries and the command, in the package.

set_target_properties(tally tally_io PROPERTIES VERSION ${PROJECT_VERSION_MAJOR})
install(TARGETS tally tally_io LIBRARY DESTINATION tally/lib COMPONENT python NAMELINK_SKIP)
if(TARGET tally_command)
  install(TARGETS tally_command RUNTIME DESTINATION tally/bin COMPONENT python)
endif()

# The short way for small arrays. Without Python's headers the package does without it.
find_package(Python COMPONENTS Interpreter Development.Module)
if(Python_Development.Module_FOUND AND Python_VERSION VERSION_GREATER_EQUAL 3.11
   AND NOT Python_SOABI MATCHES "t-")
  Python_add_library(tally_fast MODULE ${PROJECT_SOURCE_DIR}/python/tally/_fast.c)
  set_target_properties(tally_fast PROPERTIES OUTPUT_NAME _fast SUFFIX .abi3.so)
  target_compile_definitions(tally_fast PRIVATE Py_LIMITED_API=0x030b0000)
  target_include_directories(tally_fast PRIVATE ${PROJECT_SOURCE_DIR}/include)
  install(TARGETS tally_fast LIBRARY DESTINATION tally COMPONENT python)
else()
  message(STATUS "No headers of CPython 3.11 or later: tally._fast is left out")
endif()
