# The program `signorini`: main.cpp and one file per subcommand.
add_executable(signorini
  main.cpp
  arguments.cpp
  campaign_session.cpp
  cmd_compare.cpp
  cmd_export.cpp
  cmd_info.cpp
  cmd_list.cpp
  cmd_merge.cpp
  cmd_plan.cpp
  cmd_record.cpp
  cmd_replay.cpp
  cmd_reproduce.cpp
  cmd_run.cpp
  cmd_solve.cpp
  cmd_status.cpp
  comparison_table.cpp
  configs.cpp
  experiment_check.cpp
  experiment_json.cpp
  experiment_session.cpp
  fact_json.cpp
  file_tables.cpp
  interrupt.cpp
  json_output.cpp
  list_screen.cpp
  python_script.cpp
  recording_context.cpp
  record_summary.cpp
  replay_json.cpp
  report_script.cpp
  run_summary.cpp
  scene_recordings.cpp
  solve_options.cpp
  solve_screen.cpp
  terminal.cpp
  terminal_monitor.cpp
)
target_include_directories(signorini PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_definitions(signorini PRIVATE SIGNORINI_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
target_link_libraries(signorini PRIVATE signorini::signorini signorini::flags CLI11::CLI11 nlohmann_json::nlohmann_json)
install(TARGETS signorini RUNTIME DESTINATION bin)
