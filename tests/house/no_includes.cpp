// Never built: the targets that name it exist for their include directories (tests/house/CMakeLists.txt).
