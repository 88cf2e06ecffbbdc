# sparkops_tests(<folder> [USES <room>…] [LIBRARIES <target>…] [SOURCES <file>…] [NATIVE])
# The tests of tests/<folder>: *_test.cpp becomes the program <folder>_tests with the ctest label `portable` (runs
# under qemu-user for aarch64 too); *_native_test.cpp becomes <folder>_native_tests with the label `native` (needs this
# kernel). With NATIVE all of them are. Every test program may use GoogleMock and RapidCheck.

function(sparkops_tests folder)
  cmake_parse_arguments(PARSE_ARGV 1 TESTS "NATIVE" "" "USES;LIBRARIES;SOURCES")
  file(GLOB_RECURSE portable CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${folder}/*_test.cpp)
  set(native ${portable})
  if(TESTS_NATIVE)
    set(portable "")
  else()
    list(FILTER portable EXCLUDE REGEX "_native_test\\.cpp$")
    list(FILTER native INCLUDE REGEX "_native_test\\.cpp$")
  endif()
  string(REPLACE "/" "_" name ${folder})
  sparkops_test_program(${name}_tests portable "${folder}" "${portable}" "${TESTS_SOURCES}" ${TESTS_USES} ${TESTS_LIBRARIES})
  sparkops_test_program(${name}_native_tests native "${folder}" "${native}" "${TESTS_SOURCES}" ${TESTS_USES} ${TESTS_LIBRARIES})
endfunction()

function(sparkops_test_program target label folder tests helpers)
  if(NOT tests)
    return()
  endif()
  add_executable(${target} ${tests} ${helpers})
  target_link_libraries(${target} PRIVATE ${ARGN} rapidcheck rapidcheck_gtest GTest::gmock GTest::gtest_main)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests/${folder})
  target_compile_definitions(${target} PRIVATE
    SPARKOPS_FIXTURES="${PROJECT_SOURCE_DIR}/tests/fixtures" SPARKOPS_SOURCE="${PROJECT_SOURCE_DIR}"
    SPARKOPS_BUILD="${PROJECT_BINARY_DIR}" SPARKOPS_PROGRAM="$<TARGET_FILE:sparkops>")
  if(label STREQUAL native)
    add_dependencies(${target} sparkops)
  endif()
  gtest_discover_tests(${target} TEST_PREFIX "${folder}." DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS "${label}" TIMEOUT 120)
endfunction()

# sparkops_fuzz_targets(): tests/fuzz/<room>/<name>_fuzz.cpp becomes <name>_fuzz, linked with its room and libFuzzer.
function(sparkops_fuzz_targets)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/*_fuzz.cpp)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    get_filename_component(folder ${source} DIRECTORY)
    get_filename_component(room ${folder} NAME)
    add_executable(${name} ${source})
    target_link_libraries(${name} PRIVATE ${room})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
  endforeach()
endfunction()
