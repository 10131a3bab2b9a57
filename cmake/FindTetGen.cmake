# TetGen has no CMake package. Target: signorini::tetgen, without its include folder, which TetGen_INCLUDE_DIR names.
find_path(TetGen_INCLUDE_DIR tetgen.h)
find_library(TetGen_LIBRARY NAMES tet tetgen)
mark_as_advanced(TetGen_INCLUDE_DIR TetGen_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(TetGen REQUIRED_VARS TetGen_LIBRARY TetGen_INCLUDE_DIR
                                  REASON_FAILURE_MESSAGE "Debian has it in libtet1.5-dev")
if(TetGen_FOUND AND NOT TARGET signorini::tetgen)
  add_library(signorini::tetgen UNKNOWN IMPORTED)
  set_target_properties(signorini::tetgen PROPERTIES IMPORTED_LOCATION "${TetGen_LIBRARY}")
endif()
