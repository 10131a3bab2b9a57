# Netlib's BLAS and LAPACK in the folders where Debian keeps them (packages libblas3, liblapack3): target signorini::reference_blas.
# A program linked with it uses them under CHOLMOD, whatever BLAS the system prefers. LD_LIBRARY_PATH still names another one.
foreach(_part BLAS LAPACK)
  string(TOLOWER ${_part} _name)
  find_library(Reference${_part}_LIBRARY NAMES lib${_name}.so.3 PATH_SUFFIXES ${_name}
               PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE} NO_DEFAULT_PATH)
  mark_as_advanced(Reference${_part}_LIBRARY)
endforeach()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ReferenceBLAS REQUIRED_VARS ReferenceBLAS_LIBRARY ReferenceLAPACK_LIBRARY
                                  REASON_FAILURE_MESSAGE "Debian has it in libblas3 and liblapack3")
if(ReferenceBLAS_FOUND AND NOT TARGET signorini::reference_blas)
  # The folders, for INSTALL_RPATH; in a build folder CMake notes them in programs by itself.
  get_filename_component(_lapack ${ReferenceLAPACK_LIBRARY} DIRECTORY)
  get_filename_component(_blas ${ReferenceBLAS_LIBRARY} DIRECTORY)
  set(ReferenceBLAS_RPATH ${_lapack} ${_blas})
  add_library(signorini::reference_blas INTERFACE IMPORTED)
  # Programs call no function of them: CHOLMOD does, and finds the library of this name that is loaded already.
  target_link_options(signorini::reference_blas INTERFACE LINKER:--no-as-needed)
  target_link_libraries(signorini::reference_blas INTERFACE ${ReferenceLAPACK_LIBRARY} ${ReferenceBLAS_LIBRARY})
endif()
