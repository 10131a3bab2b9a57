# `cpack` makes Debian packages: signorini (the program and all that it uses) and libsignorini-dev (library, headers).
# scripts/check_package builds them and tries them in a clean Debian 12.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The Signorini authors <signorini@localhost>")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "${PROJECT_DESCRIPTION}
 Records the contact problems that simulations meet, solves the same problems with
 every solver, judges all answers by one measure and repeats the figures of papers.")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME signorini)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
if(ReferenceBLAS_FOUND)  # dpkg-shlibdeps names any BLAS
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS "libblas3, liblapack3")
endif()
# record, solve, info, export and run need none of these; reports, pictures, pages and the Python package do.
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "python3, python3-scipy, python3-h5py, python3-pandas, python3-matplotlib, python3-pil, \
python3-jinja2, node-d3, libjs-three, fonts-dejavu-core")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "libsignorini-dev, python3-siconos, python3-meshio, paraview")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "${PROJECT_DESCRIPTION} (library)
 The static library of signorini, its headers, and files for CMake and pkg-config.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libsignorini-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libbenchmark-dev, libeigen3-dev, libfmt-dev, libhdf5-dev, libtbb-dev, libtomlplusplus-dev, \
libxxhash-dev, zlib1g-dev")
if(SIGNORINI_HAVE_CHOLMOD OR SIGNORINI_HAVE_KLU)
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", libsuitesparse-dev")
endif()
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS signorini)
include(CPack)
