# A room is a folder of src/ and a static library of the same name. Its headers are reachable as
# "<room>/…" only by targets that link it: each room has an include directory of its own that holds
# nothing but a link to its folder, so that a use which the architecture does not allow does not build.
# A room whose folder does not exist yet is an empty target: nothing can be included from it.

function(sparkops_room room)
  cmake_parse_arguments(PARSE_ARGV 1 ROOM "" "" "USES;LIBRARIES")
  set(include_directory ${PROJECT_BINARY_DIR}/include/${room})
  file(MAKE_DIRECTORY ${include_directory})
  if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/src/${room})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/${room} ${include_directory}/${room} SYMBOLIC)
  else()
    file(REMOVE ${include_directory}/${room})
  endif()

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
  set_property(GLOBAL APPEND PROPERTY SPARKOPS_ROOMS ${room})
endfunction()
