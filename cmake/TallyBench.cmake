# bench/micro_*.c: small programs that time one part from inside. `make bench` builds and runs the
# benchmark proper, which is a word of the command.

file(GLOB micro CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/micro_*.c)
foreach(source IN LISTS micro)
  get_filename_component(program ${source} NAME_WE)
  add_executable(${program} EXCLUDE_FROM_ALL ${source})
  set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
  target_link_libraries(${program} PRIVATE tally_internal)
  list(APPEND TALLY_MICRO ${program})
endforeach()
if(TALLY_MICRO)
  add_custom_target(bench DEPENDS ${TALLY_MICRO})
endif()
