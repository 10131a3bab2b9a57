# TetGen has no CMake package. Sets SIGNORINI_HAVE_TETGEN; the option is off by default because TetGen is under the
# AGPL, which then holds for the whole program.
set(SIGNORINI_HAVE_TETGEN OFF)
if(SIGNORINI_TETGEN)
  find_path(TETGEN_INCLUDE_DIR tetgen.h)
  find_library(TETGEN_LIBRARY NAMES tet tetgen)
  if(NOT TETGEN_INCLUDE_DIR OR NOT TETGEN_LIBRARY)
    message(FATAL_ERROR "SIGNORINI_TETGEN is ON but TetGen was not found: apt-get install libtet1.5-dev")
  endif()
  set(SIGNORINI_HAVE_TETGEN ON)
endif()
message(STATUS "TetGen: ${SIGNORINI_HAVE_TETGEN}")
