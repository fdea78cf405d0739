# SPDX-License-Identifier: Apache-2.0
# Headers, libraries, command, pkg-config file, CMake package, man page, completions.

include(CMakePackageConfigHelpers)

install(TARGETS tally tally_io EXPORT tally-targets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tally TYPE INCLUDE)

# find_package(tally) → tally::tally, tally::io
set(TALLY_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/tally)
set(TALLY_CONFIG_MODULES "")
foreach(name IN LISTS TALLY_PACKAGES)
  if(TALLY_HAVE_${name} AND TALLY_${name}_MODULE)
    string(APPEND TALLY_CONFIG_MODULES
           "    pkg_check_modules(TALLY_${name} REQUIRED IMPORTED_TARGET ${TALLY_${name}_MODULE})\n")
  endif()
endforeach()
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/tally-config.cmake.in ${PROJECT_BINARY_DIR}/tally-config.cmake
  INSTALL_DESTINATION ${TALLY_CMAKE_DIR})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/tally-config-version.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT tally-targets NAMESPACE tally:: DESTINATION ${TALLY_CMAKE_DIR})
install(FILES ${PROJECT_BINARY_DIR}/tally-config.cmake
              ${PROJECT_BINARY_DIR}/tally-config-version.cmake DESTINATION ${TALLY_CMAKE_DIR})

# pkg-config tally, tally-io. A shared library's users need nothing of what it was linked with, not
# even that library's own .pc file; a static library's users need all of it.
list(JOIN TALLY_PACKAGE_MODULES " " modules)
file(RELATIVE_PATH TALLY_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
function(tally_pc name description private)
  set(TALLY_PC_NAME ${name})
  set(TALLY_PC_DESCRIPTION "${description}")
  set(TALLY_PC_PRIVATE "${private}")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/tally.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
set(io_description "Tally's files: results saved, merged and drawn, inputs read")
if(BUILD_SHARED_LIBS)
  tally_pc(tally "${PROJECT_DESCRIPTION}" "")
  tally_pc(tally-io "${io_description}" "Requires: tally\n")
else()
  tally_pc(tally "${PROJECT_DESCRIPTION}" "Libs.private: -lm -lpthread -ldl${TALLY_PC_ATOMIC}\n")
  tally_pc(tally-io "${io_description}" "Requires: tally ${modules}\nLibs.private: -lm${TALLY_PACKAGE_BARE}\n")
endif()

if(TARGET tally_command)
  install(TARGETS tally_command)
  if(TARGET tally_pages)
    install(FILES ${TALLY_MAN_PAGES} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES ${TALLY_PAGES}/tally.bash RENAME tally
            DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${TALLY_PAGES}/_tally DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${TALLY_PAGES}/tally.fish
            DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  endif()
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
