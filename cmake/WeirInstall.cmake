# `cmake --install`: the public headers, the libraries that a program embeds, the executables, and
# the package `weir` (find_package(weir) -> weir::weir). Headers of src/ are not installed.
#
# What was built is installed. ./run builds `weir` and with it the libraries; the target `programs` builds
# the rest. So the lab, and the C++ client (clients/cpp), are left out where they were not built.
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/weir")

add_library(weir_weir INTERFACE)
set_target_properties(weir_weir PROPERTIES EXPORT_NAME weir)
target_link_libraries(weir_weir INTERFACE weir_limiter)
add_library(weir::weir ALIAS weir_weir)

install(TARGETS weir_weir weir_limiter weir_holds weir_store weir_rules weir_algorithms weir_base
        EXPORT weir ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(EXPORT weir NAMESPACE weir:: DESTINATION "${package_dir}" FILE weirTargets.cmake)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/weir" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.h")
foreach(program weir weir-lab)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" OPTIONAL)
  endif()
endforeach()

configure_package_config_file(cmake/weirConfig.cmake.in weirConfig.cmake
                              INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file(weirConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/weirConfig.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/weirConfigVersion.cmake" DESTINATION "${package_dir}")
