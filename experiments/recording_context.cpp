#include "recording_context.h"

#include "commands.h"
#include "harness/environment.h"

namespace signorini {

RecordingContext recording_context(const Program& program, RunMonitor& monitor) {
  const auto describe = [started = Provenance(program.command_line)](const RecordingHeader& header,
                                                                     const std::filesystem::path& content,
                                                                     const std::filesystem::path& file) {
    Provenance provenance = started;
    provenance.set("scene", header.scene);
    provenance.set("config", header.config);
    provenance.add_input(content, file);
    return provenance.json();
  };
  return {monitor, build_facts().git, describe};
}

}  // namespace signorini
