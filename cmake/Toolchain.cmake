# Compiler and linker settings that hold for every target.

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

set(warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast -Werror)
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:${warnings}>")
# clang takes std::stable_sort of libstdc++ for a use of ours of what is deprecated inside it.
add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-deprecated-declarations>)
add_compile_options($<$<CONFIG:Release>:-O2> -ffunction-sections -fdata-sections)
# Absolute build paths in the program would make two builds of one source differ.
add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
add_link_options(-Wl,--gc-sections)

if(NOT CMAKE_CROSSCOMPILING)
  find_program(MOLD_PROGRAM mold)
  if(MOLD_PROGRAM)
    add_link_options(-fuse-ld=mold)
  endif()
endif()

if(SPARKOPS_SANITIZERS)
  add_compile_options(-fsanitize=${SPARKOPS_SANITIZERS} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SPARKOPS_SANITIZERS})
else()
  # One file must run everywhere: of the shared libraries only glibc's own may remain.
  add_link_options(-static-libstdc++ -static-libgcc)
endif()
if(SPARKOPS_FUZZ)
  # Every object counts coverage; only the fuzz targets bring libFuzzer's main.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=fuzzer-no-link>)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()
