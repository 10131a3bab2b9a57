# xxHash ships no CMake package on Debian 12.
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
find_library(XXHASH_LIBRARY xxhash REQUIRED)
add_library(xxhash::xxhash INTERFACE IMPORTED)
target_include_directories(xxhash::xxhash INTERFACE ${XXHASH_INCLUDE_DIR})
target_link_libraries(xxhash::xxhash INTERFACE ${XXHASH_LIBRARY})
