# The program `signorini`: main.cpp and one file per subcommand.
set(_commands compare completion export info list man merge plan record replay reproduce run solve status)
list(TRANSFORM _commands REPLACE "(.+)" "cmd_\\1.cpp" OUTPUT_VARIABLE _command_sources)
add_executable(signorini
  main.cpp
  ${_command_sources}
  arguments.cpp
  campaign_session.cpp
  comparison_table.cpp
  completion_bash.cpp
  completion_fish.cpp
  completion_zsh.cpp
  configs.cpp
  experiment_check.cpp
  experiment_json.cpp
  experiment_session.cpp
  fact_json.cpp
  file_tables.cpp
  interrupt.cpp
  json_output.cpp
  list_screen.cpp
  manual_page.cpp
  option_table.cpp
  python_script.cpp
  recording_context.cpp
  record_summary.cpp
  replay_json.cpp
  report_script.cpp
  run_summary.cpp
  scene_recordings.cpp
  shell_completion.cpp
  solve_options.cpp
  solve_screen.cpp
  terminal.cpp
  terminal_monitor.cpp
)
target_include_directories(signorini PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(signorini PRIVATE signorini::signorini signorini::flags signorini_blas CLI11::CLI11 nlohmann_json::nlohmann_json)
set_target_properties(signorini PROPERTIES UNITY_BUILD ${SIGNORINI_UNITY} UNITY_BUILD_BATCH_SIZE 6)
if(SIGNORINI_HAVE_CHOLMOD)
  set_target_properties(signorini PROPERTIES INSTALL_RPATH "${ReferenceBLAS_RPATH}")
endif()
# Where a program that is built outside of its source tree finds configs and scripts (configs.h).
file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/source_tree CONTENT "${PROJECT_SOURCE_DIR}\n")
install(TARGETS signorini RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)

# Manual pages and completion scripts: the program writes them from the options that it has.
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  message(STATUS "No manual pages and completion scripts: the program cannot run here")
  return()
endif()
set(_pages ${CMAKE_CURRENT_BINARY_DIR}/pages)
file(MAKE_DIRECTORY ${_pages})
set(_manuals ${_pages}/signorini.1)
set(_calls COMMAND signorini man > ${_pages}/signorini.1)
foreach(_command ${_commands})
  list(APPEND _manuals ${_pages}/signorini-${_command}.1)
  list(APPEND _calls COMMAND signorini man ${_command} > ${_pages}/signorini-${_command}.1)
endforeach()
foreach(_shell bash zsh fish)
  list(APPEND _completions ${_pages}/${_shell})
  list(APPEND _calls COMMAND signorini completion ${_shell} > ${_pages}/${_shell})
endforeach()
add_custom_command(OUTPUT ${_manuals} ${_completions} ${_calls} DEPENDS signorini
                   COMMENT "Writing manual pages and completion scripts" VERBATIM)
add_custom_target(signorini_pages ALL DEPENDS ${_manuals} ${_completions})
install(FILES ${_manuals} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
install(FILES ${_pages}/bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME signorini COMPONENT program)
# Where zsh looks: Debian keeps site-functions of /usr free.
set(_zsh site-functions)
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(_zsh vendor-completions)
endif()
install(FILES ${_pages}/zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/${_zsh} RENAME _signorini COMPONENT program)
install(FILES ${_pages}/fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d RENAME signorini.fish COMPONENT program)
