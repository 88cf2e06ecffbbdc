# The libraries of the distributions (Debian 12 and Ubuntu 24.04); nothing is downloaded at configure time.

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(tl-expected REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)

# The static archive, not the shared library that the package's own CMake target names.
find_library(YAML_CPP_ARCHIVE NAMES libyaml-cpp.a REQUIRED)
find_path(YAML_CPP_INCLUDE yaml-cpp/yaml.h REQUIRED)
add_library(yaml_cpp_static STATIC IMPORTED)
set_target_properties(yaml_cpp_static PROPERTIES
  IMPORTED_LOCATION ${YAML_CPP_ARCHIVE}
  INTERFACE_INCLUDE_DIRECTORIES ${YAML_CPP_INCLUDE}
  INTERFACE_COMPILE_DEFINITIONS YAML_CPP_STATIC_DEFINE)

# The headers alone: the package's own target links its shared library.
find_path(TOMLPLUSPLUS_INCLUDE toml++/toml.h REQUIRED)
add_library(tomlplusplus_headers INTERFACE)
target_include_directories(tomlplusplus_headers SYSTEM INTERFACE ${TOMLPLUSPLUS_INCLUDE})
target_compile_definitions(tomlplusplus_headers INTERFACE TOML_HEADER_ONLY=1)
add_library(tomlplusplus::tomlplusplus ALIAS tomlplusplus_headers)

# Wheels are zip archives.
find_library(ZLIB_ARCHIVE NAMES libz.a REQUIRED)
find_path(ZLIB_INCLUDE zlib.h REQUIRED)
add_library(zlib_static STATIC IMPORTED)
set_target_properties(zlib_static PROPERTIES
  IMPORTED_LOCATION ${ZLIB_ARCHIVE}
  INTERFACE_INCLUDE_DIRECTORIES ${ZLIB_INCLUDE})
