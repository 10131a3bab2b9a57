# What `cmake --install` puts where; docs/installing.md has the table. The program, its manual pages and its completion scripts are
# installed by experiments/program.cmake.
include(CMakePackageConfigHelpers)
include(CheckTypeSize)

# --- configs, scripts, pictures: the program looks for them in ../share/signorini ------------------------------------------------
set(_data share/signorini)
install(DIRECTORY configs DESTINATION ${_data} COMPONENT program)
install(PROGRAMS scripts/campaign-slurm scripts/compare_siconos scripts/convert_mesh scripts/make_dataset scripts/migrate_experiment
                 scripts/problem_facts scripts/render scripts/replay_page scripts/report DESTINATION ${_data}/scripts COMPONENT program)
install(FILES scripts/mesh_conversion.py scripts/siconos_rows.py DESTINATION ${_data}/scripts COMPONENT program)
install(DIRECTORY scripts/signorini_dataset scripts/signorini_problems scripts/signorini_render scripts/signorini_replay scripts/signorini_report
        DESTINATION ${_data}/scripts COMPONENT program PATTERN __pycache__ EXCLUDE)
install(DIRECTORY docs/gallery DESTINATION ${_data}/docs COMPONENT program)
install(FILES CITATION.cff LICENSE DESTINATION ${_data} COMPONENT program)  # a dataset names its authors and has its licence

# Relative links: the tree may be moved as a whole.
function(signorini_install_link name target destination component)
  set(_link ${PROJECT_BINARY_DIR}/links/${destination}/${name})
  get_filename_component(_folder ${_link} DIRECTORY)
  file(MAKE_DIRECTORY ${_folder})
  file(CREATE_LINK ${target} ${_link} SYMBOLIC)
  install(FILES ${_link} DESTINATION ${destination} COMPONENT ${component})
endfunction()
foreach(_script campaign-slurm compare_siconos convert_mesh make_dataset render report)
  string(REPLACE _ - _name signorini-${_script})
  signorini_install_link(${_name} ../${_data}/scripts/${_script} ${CMAKE_INSTALL_BINDIR} program)
endforeach()

# --- pages: folders stand as in the source tree, so that their links hold --------------------------------------------------------
set(_doc ${CMAKE_INSTALL_DOCDIR})
install(FILES CHANGELOG.md CITATION.cff LICENSE README.md DESTINATION ${_doc} COMPONENT program)
install(DIRECTORY docs DESTINATION ${_doc} COMPONENT program PATTERN gallery EXCLUDE)
install(DIRECTORY examples DESTINATION ${_doc} COMPONENT program)
install(DIRECTORY results/reference DESTINATION ${_doc}/results COMPONENT program)
foreach(_folder configs scripts)
  signorini_install_link(${_folder} ../../signorini/${_folder} ${_doc} program)
endforeach()
signorini_install_link(gallery ../../../signorini/docs/gallery ${_doc}/docs program)

# --- library and headers ---------------------------------------------------------------------------------------------------------
add_library(Signorini::signorini ALIAS signorini_core)
set_target_properties(signorini_core PROPERTIES EXPORT_NAME signorini OUTPUT_NAME signorini)
target_compile_features(signorini_core PUBLIC cxx_std_20)
# Matrices pass between the library and its users. Their memory is aligned as the library's is, also where users compile for processors
# with longer vectors (-march=native): one side frees what the other allocates.
set(CMAKE_EXTRA_INCLUDE_FILES Eigen/Core)
set(CMAKE_REQUIRED_INCLUDES $<TARGET_PROPERTY:Eigen3::Eigen,INTERFACE_INCLUDE_DIRECTORIES>)
set(CMAKE_REQUIRED_LIBRARIES Eigen3::Eigen)
set(CMAKE_REQUIRED_QUIET ON)
check_type_size("char[EIGEN_MAX_ALIGN_BYTES]" SIGNORINI_EIGEN_ALIGN LANGUAGE CXX)
check_type_size("char[EIGEN_MALLOC_ALREADY_ALIGNED + 1]" SIGNORINI_EIGEN_MALLOC LANGUAGE CXX)
unset(CMAKE_EXTRA_INCLUDE_FILES)
unset(CMAKE_REQUIRED_INCLUDES)
unset(CMAKE_REQUIRED_LIBRARIES)
unset(CMAKE_REQUIRED_QUIET)
math(EXPR _malloc "${SIGNORINI_EIGEN_MALLOC} - 1")
set(_definitions EIGEN_MAX_ALIGN_BYTES=${SIGNORINI_EIGEN_ALIGN} EIGEN_MALLOC_ALREADY_ALIGNED=${_malloc})
target_compile_definitions(signorini_core INTERFACE $<INSTALL_INTERFACE:${_definitions}>)
target_include_directories(signorini_core INTERFACE
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/signorini>)
install(TARGETS signorini_core EXPORT Signorini ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(DIRECTORY lib/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/signorini COMPONENT development FILES_MATCHING PATTERN *.h PATTERN *.md
        PATTERN python EXCLUDE)
# The pages lead to these.
install(DIRECTORY lib/python/examples DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/signorini/python COMPONENT development
        PATTERN __pycache__ EXCLUDE)
signorini_install_link(include ../../../${CMAKE_INSTALL_INCLUDEDIR} ${_doc} development)
signorini_install_link(lib ../../../${CMAKE_INSTALL_INCLUDEDIR}/signorini ${_doc} development)

# --- find_package(Signorini) -------------------------------------------------------------------------------------------------------
set(_package ${CMAKE_INSTALL_LIBDIR}/cmake/Signorini)
configure_package_config_file(cmake/SignoriniConfig.cmake.in ${PROJECT_BINARY_DIR}/SignoriniConfig.cmake
                              INSTALL_DESTINATION ${_package} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/SignoriniConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT Signorini NAMESPACE Signorini:: FILE SignoriniTargets.cmake DESTINATION ${_package} COMPONENT development)
install(FILES ${PROJECT_BINARY_DIR}/SignoriniConfig.cmake ${PROJECT_BINARY_DIR}/SignoriniConfigVersion.cmake cmake/FindxxHash.cmake
              cmake/FindCHOLMOD.cmake cmake/FindKLU.cmake cmake/FindTetGen.cmake DESTINATION ${_package} COMPONENT development)

# --- pkg-config --------------------------------------------------------------------------------------------------------------------
# "-L<folder> -l<name>" for each library file.
function(signorini_link_flags files result)
  set(_flags "")
  foreach(_file ${files})
    get_filename_component(_folder ${_file} DIRECTORY)
    get_filename_component(_name ${_file} NAME_WE)
    if(NOT _folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES AND NOT _flags MATCHES "-L${_folder} ")
      string(APPEND _flags "-L${_folder} ")
    endif()
    string(REGEX REPLACE "^lib" "-l" _name ${_name})
    string(APPEND _flags "${_name} ")
  endforeach()
  string(STRIP "${_flags}" _flags)
  set(${result} "${_flags}" PARENT_SCOPE)
endfunction()
set(_files ${HDF5_C_HL_LIBRARIES} ${HDF5_C_LIBRARIES})
list(FILTER _files INCLUDE REGEX "/libhdf5[^/]*$")
list(REMOVE_DUPLICATES _files)
foreach(_part CHOLMOD KLU TetGen)
  string(TOUPPER ${_part} _name)
  if(SIGNORINI_HAVE_${_name})
    list(APPEND _files ${${_part}_LIBRARY})
  endif()
endforeach()
signorini_link_flags("${_files}" SIGNORINI_PC_LIBS)
file(RELATIVE_PATH SIGNORINI_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" SIGNORINI_PC_PREFIX ${SIGNORINI_PC_PREFIX})
list(JOIN _definitions " -D" SIGNORINI_PC_DEFINITIONS)
configure_file(cmake/signorini.pc.in ${PROJECT_BINARY_DIR}/signorini.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/signorini.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
