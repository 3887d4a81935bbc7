# A tree that runs from wherever it lies: programs, the libraries that no system has, scripts, models, licences.
#
#   cmake --install build --prefix /opt/infimum          bin, lib/infimum, share
#   cpack --config build/CPackConfig.cmake -G DEB        packages infimum, infimum-cpu, infimum-cuda, of this system's libraries
include_guard(GLOBAL)
set(CMAKE_INSTALL_MESSAGE LAZY)

set(INFIMUM_PRIVATE_LIBRARIES lib/infimum)
set(cli_programs infimum infimum-microbench-fake)
set(cpu_programs infimum-microbench-onednn)
set(cuda_programs infimum-microbench-cuda infimum-candidates-cuda infimum-gpu-checklist)
foreach(component IN ITEMS cli cpu cuda)
  foreach(program IN LISTS ${component}_programs)
    if(TARGET ${program})
      set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/../${INFIMUM_PRIVATE_LIBRARIES}")
      install(TARGETS ${program} RUNTIME DESTINATION bin COMPONENT ${component})
    endif()
  endforeach()
endforeach()
get_filename_component(dnnl_prefix "${dnnl_DIR}/../../.." ABSOLUTE)
# A wheel has no links: each of its names would be a whole copy.
install(FILES "${dnnl_prefix}/lib/libdnnl.so.3" DESTINATION ${INFIMUM_PRIVATE_LIBRARIES} COMPONENT cpu)

set(share share/infimum)
install(DIRECTORY scripts/frameworks DESTINATION ${share} COMPONENT cli FILES_MATCHING PATTERN "*.py")
install(DIRECTORY scripts/ci DESTINATION ${share} COMPONENT cli USE_SOURCE_PERMISSIONS)
install(PROGRAMS scripts/team_store DESTINATION ${share} COMPONENT cli)
install(DIRECTORY scripts/campaign DESTINATION ${share} COMPONENT cli)
install(DIRECTORY db/data/gpus DESTINATION ${share} COMPONENT cli FILES_MATCHING PATTERN "*.json")
install(DIRECTORY "${ONNX_SHARE_DIR}/models" DESTINATION ${share} COMPONENT cli OPTIONAL FILES_MATCHING PATTERN "light_*.onnx")
install(FILES LICENSE README.md CHANGELOG.md DESTINATION share/doc/infimum COMPONENT cli)
install(DIRECTORY "${dnnl_prefix}/share/doc/" DESTINATION share/doc/infimum COMPONENT cpu OPTIONAL
        FILES_MATCHING PATTERN "LICENSE" PATTERN "THIRD-PARTY-PROGRAMS")

# Man pages and completion say what the help does.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  set(help "${CMAKE_BINARY_DIR}/help")
  add_custom_command(OUTPUT "${help}/man/man1/infimum.1"
    COMMAND ${Python3_EXECUTABLE} "${CMAKE_SOURCE_DIR}/scripts/help_pages.py" $<TARGET_FILE:infimum> "${help}"
    DEPENDS infimum scripts/help_pages.py COMMENT "Man pages and completion" VERBATIM)
  add_custom_target(help_pages ALL DEPENDS "${help}/man/man1/infimum.1")
  install(DIRECTORY "${help}/" DESTINATION share COMPONENT cli)
endif()

set(CPACK_PACKAGE_NAME infimum)
set(CPACK_PACKAGE_VENDOR infimum)
set(CPACK_PACKAGE_CONTACT "infimum")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "How fast a neural network could run on a device, and where a framework's run loses time")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL cli cpu)
if(TARGET infimum-microbench-cuda)
  list(APPEND CPACK_COMPONENTS_ALL cuda)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${dnnl_prefix}/lib")
set(CPACK_DEBIAN_CLI_PACKAGE_NAME infimum)
set(CPACK_DEBIAN_CPU_PACKAGE_NAME infimum-cpu)
set(CPACK_DEBIAN_CUDA_PACKAGE_NAME infimum-cuda)
set(CPACK_DEBIAN_CLI_PACKAGE_RECOMMENDS infimum-cpu)
set(CPACK_DEBIAN_CPU_PACKAGE_DEPENDS "infimum (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_CUDA_PACKAGE_DEPENDS "infimum (= ${PROJECT_VERSION})")
include(CPack)
