# Cross build for the DGX Spark on another machine: the distribution's cross compiler with its glibc, and our
# libraries from build/sysroot-arm64 (packaging/arm64-sysroot fills it; nothing is installed).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_ASM_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

get_filename_component(SPARKOPS_SYSROOT ${CMAKE_CURRENT_LIST_DIR}/../build/sysroot-arm64 ABSOLUTE)
if(NOT EXISTS ${SPARKOPS_SYSROOT}/.complete)
  message(FATAL_ERROR "no arm64 libraries in ${SPARKOPS_SYSROOT}; fetch them with: packaging/arm64-sysroot build/sysroot-arm64")
endif()

# Libraries and headers come from there alone; programs that run while building are this machine's.
set(CMAKE_FIND_ROOT_PATH ${SPARKOPS_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# No binfmt registration needed: tests start through the emulator, which finds glibc beside the cross compiler.
find_program(SPARKOPS_EMULATOR NAMES qemu-aarch64-static qemu-aarch64)
if(SPARKOPS_EMULATOR)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${SPARKOPS_EMULATOR} -L /usr/aarch64-linux-gnu)
endif()
