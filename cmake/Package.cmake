# What a package holds, for CPack's .deb and for `cmake --install`. `./run package` drives it.
# The program prints its own man page and completions, through the emulator where it was built for another processor.
include(GNUInstallDirs)

set(documentation_folder ${PROJECT_BINARY_DIR}/documentation)
file(MAKE_DIRECTORY ${documentation_folder})
set(documentation_files "")
function(sparkops_documentation kind file)
  add_custom_command(OUTPUT ${documentation_folder}/${file}
    COMMAND sparkops documentation ${kind} > ${documentation_folder}/${file} DEPENDS sparkops VERBATIM)
  set(documentation_files ${documentation_files} ${documentation_folder}/${file} PARENT_SCOPE)
endfunction()
sparkops_documentation(man sparkops.1)
sparkops_documentation(bash sparkops)
sparkops_documentation(zsh _sparkops)
sparkops_documentation(fish sparkops.fish)

# What Debian's rules ask for: compressed without a time, and every statically linked library's notice.
find_program(GZIP_PROGRAM gzip REQUIRED)
add_custom_command(OUTPUT ${documentation_folder}/sparkops.1.gz
  COMMAND ${GZIP_PROGRAM} -9nkf ${documentation_folder}/sparkops.1 DEPENDS ${documentation_folder}/sparkops.1 VERBATIM)
add_custom_command(OUTPUT ${documentation_folder}/changelog.gz
  COMMAND ${GZIP_PROGRAM} -9nc ${PROJECT_SOURCE_DIR}/packaging/debian/changelog > ${documentation_folder}/changelog.gz
  DEPENDS ${PROJECT_SOURCE_DIR}/packaging/debian/changelog VERBATIM)
add_custom_command(OUTPUT ${documentation_folder}/copyright
  COMMAND ${PROJECT_SOURCE_DIR}/packaging/debian/copyright ${PROJECT_SOURCE_DIR}/packaging/build-packages.txt
    ${CMAKE_FIND_ROOT_PATH} > ${documentation_folder}/copyright
  DEPENDS ${PROJECT_SOURCE_DIR}/packaging/debian/copyright ${PROJECT_SOURCE_DIR}/packaging/build-packages.txt VERBATIM)
add_custom_target(documentation DEPENDS ${documentation_files} ${documentation_folder}/sparkops.1.gz
  ${documentation_folder}/changelog.gz ${documentation_folder}/copyright)

# Packing builds nothing by itself, least of all the tests.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY TRUE)
install(TARGETS sparkops RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${documentation_folder}/sparkops.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${documentation_folder}/sparkops DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${documentation_folder}/_sparkops DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${documentation_folder}/sparkops.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES packaging/debian/lintian-overrides DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides RENAME sparkops)
install(DIRECTORY knowledge DESTINATION ${CMAKE_INSTALL_DATADIR}/sparkops FILES_MATCHING PATTERN "*.yaml")
install(DIRECTORY skills DESTINATION ${CMAKE_INSTALL_DATADIR}/sparkops USE_SOURCE_PERMISSIONS)
set(package_documents ${CMAKE_INSTALL_DATADIR}/doc/sparkops)
install(FILES README.md AGENTS.md ${documentation_folder}/changelog.gz ${documentation_folder}/copyright
  DESTINATION ${package_documents})
install(DIRECTORY docs DESTINATION ${package_documents} FILES_MATCHING PATTERN "*.md" PATTERN "*.json")
# The recorded machines, to try --root on; without their build's README.
install(DIRECTORY tests/fixtures/machines/ DESTINATION ${package_documents}/examples/machines
  FILES_MATCHING PATTERN "*.machine")

if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
else()
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE amd64)
endif()
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME sparkops)
set(CPACK_PACKAGE_VENDOR sparkops)
set(CPACK_PACKAGE_CONTACT "sparkops developers <developers@sparkops.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "operate ML jobs on the NVIDIA DGX Spark")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"Tells whether a DGX Spark or one of its twins (GB10: one memory pool for CPU
and GPU) is ready for a training or inference run, who holds the pool, what can
be given back, and which known fault is behind what goes wrong.
One program that needs neither Python nor a CUDA toolkit. It starts no service
and changes nothing by itself.")
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
# The glibc it is linked to asks for this at most (a test holds it); the rest is inside.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.35)")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libcurl4, libsystemd0")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_STRIP_FILES TRUE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/package)
include(CPack)
