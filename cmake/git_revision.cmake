# Run at build time: cmake -DSOURCE=… -DTEMPLATE=… -DOUTPUT=… -P git_revision.cmake
# Fills @GIT_REVISION@ and rewrites the output only when the revision changed, so nothing is rebuilt needlessly.
set(GIT_REVISION "unknown (not built from a git checkout)")
find_program(GIT git)
if(GIT AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse --short=12 HEAD OUTPUT_VARIABLE _head
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE _failed)
  if(NOT _failed)
    execute_process(COMMAND ${GIT} -C ${SOURCE} status --porcelain --untracked-files=no OUTPUT_VARIABLE _changes
                    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    set(GIT_REVISION ${_head})
    if(_changes)
      string(APPEND GIT_REVISION "-dirty")
    endif()
  endif()
endif()
configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
