# SuiteSparse has no CMake package on Debian 12. Target: signorini::klu.
find_path(KLU_INCLUDE_DIR klu.h PATH_SUFFIXES suitesparse)
find_library(KLU_LIBRARY klu)
mark_as_advanced(KLU_INCLUDE_DIR KLU_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(KLU REQUIRED_VARS KLU_LIBRARY KLU_INCLUDE_DIR
                                  REASON_FAILURE_MESSAGE "Debian has it in libsuitesparse-dev")
if(KLU_FOUND AND NOT TARGET signorini::klu)
  add_library(signorini::klu UNKNOWN IMPORTED)
  set_target_properties(signorini::klu PROPERTIES IMPORTED_LOCATION "${KLU_LIBRARY}"
                        INTERFACE_INCLUDE_DIRECTORIES "${KLU_INCLUDE_DIR}")
endif()
