# A room is a folder of src/ and a static library of the same name. Its headers are reachable as
# "<room>/…" only by targets that link it: each room has an include directory of its own that holds
# nothing but a link to its folder, so that a use which the architecture does not allow does not build.

function(sparkops_room room)
  cmake_parse_arguments(PARSE_ARGV 1 ROOM "" "" "USES;LIBRARIES")
  set(include_directory ${PROJECT_BINARY_DIR}/include/${room})
  file(MAKE_DIRECTORY ${include_directory})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/${room} ${include_directory}/${room} SYMBOLIC)

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  if(sources)
    add_library(${room} STATIC ${sources})
    target_include_directories(${room} PUBLIC ${include_directory})
    target_link_libraries(${room} PUBLIC ${ROOM_USES} PRIVATE ${ROOM_LIBRARIES})
  else()
    add_library(${room} INTERFACE)
    target_include_directories(${room} INTERFACE ${include_directory})
    target_link_libraries(${room} INTERFACE ${ROOM_USES})
  endif()
endfunction()

# The tests of tests/<folder>: one program from its *_test.cpp files, registered with ctest.
# LABEL portable: also runs under qemu-user for aarch64; native: needs this kernel.
function(sparkops_tests folder)
  cmake_parse_arguments(PARSE_ARGV 1 TESTS "" "LABEL" "USES;LIBRARIES;SOURCES")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${folder}/*_test.cpp)
  if(NOT sources)
    return()
  endif()
  string(REPLACE "/" "_" target ${folder}_tests)
  add_executable(${target} ${sources} ${TESTS_SOURCES})
  target_link_libraries(${target} PRIVATE ${TESTS_USES} ${TESTS_LIBRARIES} ${RAPIDCHECK_LIBRARY} GTest::gmock GTest::gtest_main)
  target_compile_definitions(${target} PRIVATE
    SPARKOPS_FIXTURES="${PROJECT_SOURCE_DIR}/tests/fixtures" SPARKOPS_SOURCE="${PROJECT_SOURCE_DIR}")
  gtest_discover_tests(${target} TEST_PREFIX "${folder}." DISCOVERY_MODE PRE_TEST
    PROPERTIES LABELS "${TESTS_LABEL}" TIMEOUT 120)
endfunction()
