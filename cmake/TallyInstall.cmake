# Header, library, command, pkg-config file, CMake package, man page, completions.

include(CMakePackageConfigHelpers)

install(TARGETS tally EXPORT tally-targets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tally TYPE INCLUDE)

# find_package(tally) → tally::tally
set(TALLY_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/tally)
set(TALLY_CONFIG_MODULES "")
foreach(name IN LISTS TALLY_PACKAGES)
  if(TALLY_HAVE_${name})
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

# pkg-config tally. With a static library its users need what it needs.
list(JOIN TALLY_PACKAGE_MODULES " " modules)
if(BUILD_SHARED_LIBS)
  set(TALLY_PC_PRIVATE "Requires.private: ${modules}\nLibs.private: -lm -lpthread -ldl")
else()
  set(TALLY_PC_PRIVATE "Requires: ${modules}\nLibs.private: -lm -lpthread -ldl")
endif()
file(RELATIVE_PATH TALLY_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${PROJECT_SOURCE_DIR}/cmake/tally.pc.in ${PROJECT_BINARY_DIR}/tally.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tally.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(TARGET tally_command)
  install(TARGETS tally_command)
  if(TARGET tally_pages)
    install(FILES ${TALLY_PAGES}/tally.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES ${TALLY_PAGES}/tally.bash RENAME tally
            DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${TALLY_PAGES}/_tally DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${TALLY_PAGES}/tally.fish
            DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  endif()
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
