#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "base/available_cpus.h"
#include "program/program_fixture.h"
#include "record/trace_file.h"

namespace signorini::campaign_test {
namespace {

/// The sessions that an env.json names besides its own.
std::vector<std::string> earlier_sessions(const fs::path& env) {
  std::vector<std::string> sessions;
  for (const auto& session : nlohmann::json::parse(file_text(env)).value("earlier", nlohmann::json::array()))
    sessions.push_back(session.dump());
  return sessions;
}

class CampaignTest : public ProgramTest {
 protected:
  /// Three problems, three solvers, two tolerances: 18 groups of runs.
  void experiment(const std::string& protocols = "\"converge\", \"time\"") const {
    planted("a.hdf5", {.contacts = 6, .regions = 2});
    planted("b.hdf5", {.contacts = 4, .seed = 2});
    planted("c.hdf5", {.contacts = 9, .seed = 3});
    std::ofstream(folder_ / "trial.toml")
        << "artefact = \"A trial\"\nfiles = [\"a.hdf5\", \"b.hdf5\", \"c.hdf5\"]\nprotocols = [" << protocols
        << "]\nregions = [\"none\", \"points\"]\nrepetitions = 2\nmax_iterations = 500\nminimum_time = 1e-5\n"
           "tolerances = [1e-4, 1e-6]\n[[solvers]]\nname = \"pgs\"\n[[solvers]]\nname = \"nsgs\"\n"
           "[[solvers]]\nname = \"pcg-pgs\"\nlabel = \"combined\"\n";
  }
  void plan(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"plan", path("trial.toml"), "-o", path("campaign")};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome o = run(words);
    ASSERT_EQ(o.code, 0) << o.err;
  }
  std::vector<std::string> shard(const std::string& which) const {
    return {"run", "--plan", path("campaign"), "--shard", which};
  }
  void run_shards(int shards) const {
    for (int i = 1; i <= shards; ++i) {
      const Outcome o = run(shard(fmt::format("{}/{}", i, shards)));
      ASSERT_EQ(o.code, 0) << o.err;
    }
  }
  Outcome merge(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"merge", path("campaign")};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
  fs::path merged() const { return folder_ / "campaign" / "trial"; }
  std::vector<fs::path> parts() const {
    std::vector<fs::path> parts;
    for (const auto& entry : fs::directory_iterator(folder_ / "campaign" / "parts"))
      parts.push_back(entry.path());
    std::ranges::sort(parts);
    return parts;
  }
  /// What one process makes.
  fs::path single() const {
    const fs::path out = folder_ / "single";
    if (!fs::exists(out)) {
      EXPECT_EQ(run({"run", path("trial.toml"), "--out", out.string()}).code, 0);
    }
    return out / "trial";
  }
  static std::vector<std::string> keys_in_order(const fs::path& table) {
    std::vector<std::string> keys;
    for (const RunRecord& row : read_run_table(table)) keys.push_back(run_key(row));
    return keys;
  }
  /// A part that took rows over names the session that made them, and the merged table every session once.
  void expect_sessions_of_rows() const {
    std::size_t named = 0;
    for (const fs::path& part : parts()) {
      const fs::path env = part / "trial" / "env.json";
      if (fs::exists(env)) named += earlier_sessions(env).empty() ? 0U : 1U;
    }
    EXPECT_GT(named, 0U) << "no part names the session whose rows it took over";
    const std::vector<std::string> all = earlier_sessions(merged() / "env.json");
    EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
  }
  void expect_like_single() const {
    EXPECT_EQ(keys_in_order(merged() / "runs.csv"), keys_in_order(single() / "runs.csv"));
    EXPECT_EQ(timeless_rows(merged() / "runs.csv"), timeless_rows(single() / "runs.csv"));
    for (const char* file : {"regions.csv", "recordings.csv", "run.toml", "runs.schema.json"})
      EXPECT_EQ(file_text(merged() / file), file_text(single() / file)) << file;
    if (!fs::exists(single() / "trace.h5")) return;
    const auto curves = read_traces(merged() / "trace.h5"), wanted = read_traces(single() / "trace.h5");
    ASSERT_EQ(curves.size(), wanted.size());
    for (std::size_t i = 0; i < curves.size(); ++i) {
      EXPECT_EQ(curves[i].solver + curves[i].file + curves[i].region_mode,
                wanted[i].solver + wanted[i].file + wanted[i].region_mode);
      EXPECT_EQ(curves[i].residual, wanted[i].residual);
    }
  }
  static void replace(const fs::path& file, const std::string& from, const std::string& to) {
    std::string text = file_text(file);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << file << ": " << from;
    text.replace(at, from.size(), to);
    std::ofstream(file) << text;
  }
};

TEST_F(CampaignTest, ShardsMergeToWhatOneProcessMakes) {
  experiment();
  plan({"--unit", "cell"});
  run_shards(3);
  const Outcome o = merge();
  EXPECT_EQ(o.code, 0) << o.err;
  expect_like_single();
  const std::string again = file_text(merged() / "runs.csv");
  EXPECT_EQ(merge().code, 0);  // the same rows, times too
  EXPECT_EQ(file_text(merged() / "runs.csv"), again);
  EXPECT_FALSE(fs::exists(merged() / "replaced"));
  // every session is told, and the result can be reported and resumed as any other
  EXPECT_NE(file_text(merged() / "env.json").find("\"earlier\""), std::string::npos);
  const Outcome resumed = run({"run", path("trial.toml"), "--out", path("campaign"), "--resume"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(file_text(merged() / "runs.csv"), again);
}

TEST_F(CampaignTest, RowsThatNoMergeMadeAreNotReplaced) {
  experiment("\"self-stopped\"");
  ASSERT_EQ(run({"run", path("trial.toml"), "--out", path("campaign")}).code, 0);
  const std::string before = file_text(merged() / "runs.csv");
  plan();
  run_shards(1);
  expect_error({"merge", path("campaign")}, 2, "holds rows that no merge made");
  EXPECT_EQ(file_text(merged() / "runs.csv"), before);
}

TEST_F(CampaignTest, AKillLosesNoFinishedGroupAndAnyShardMayRunAgain) {
  experiment();
  plan();
  std::size_t killed = 0;
  for (int at = 8; at <= 120; at += 14) {
    const Outcome o = run(shard("1/2"), killed_at(at));
    killed += o.code > 128 || o.code == 137 ? 1U : 0U;
  }
  EXPECT_GT(killed, 3U);
  run_shards(2);
  const Outcome twice = run(shard("2/2"));
  EXPECT_EQ(twice.code, 0);
  EXPECT_NE(twice.err.find("0 groups of runs made"), std::string::npos) << twice.err;
  EXPECT_EQ(merge().code, 0);
  expect_like_single();
  std::set<std::string> keys;  // nothing was made again but what a kill took
  std::size_t lines = 0;
  for (const fs::path& part : parts()) {
    const std::string text = file_text(part / "cells.csv");
    lines += static_cast<std::size_t>(std::ranges::count(text, '\n'));
  }
  lines -= parts().size();  // headers; a kill may have torn one
  EXPECT_LE(lines, 18U);
  EXPECT_GE(lines + killed, 18U);
}

/// A process that is started again for the same shard takes over the rows of a group that the kill cut short, so no run is made
/// twice: every copy of a row has the times of the first.
TEST_F(CampaignTest, AKillWithinAGroupLosesTheRunAtWork) {
  std::ofstream(folder_ / "trial.toml")
      << "artefact = \"A trial\"\nprotocols = [\"converge\", \"self-stopped\"]\nrepetitions = 1\n"
         "regions = [\"none\", \"points\", \"islands\"]\nmax_iterations = 500\n"
         "[[problems]]\nname = \"a\"\nplanted = { contacts = 6, regions = 2 }\n[[solvers]]\nname = \"pgs\"\n"
         "[[solvers]]\nname = \"nsgs\"\n";
  plan();
  int killed = 0;
  for (int at = 14; at <= 60; at += 2) killed += run(shard("1/1"), killed_at(at)).code == 137 ? 1 : 0;
  EXPECT_GT(killed, 3);
  run_shards(1);
  ASSERT_EQ(merge().code, 0);
  expect_like_single();
  std::map<std::string, std::set<std::pair<double, double>>> times;
  int in_part = 0;
  for (const fs::path& part : parts()) {
    const fs::path table = part / "trial" / "runs.csv";
    if (!fs::exists(table)) continue;
    const std::vector<RunRecord> rows = read_run_table(table);
    in_part += rows.size() % 6 == 0 ? 0 : 1;
    for (const RunRecord& row : rows) times[run_key(row)].insert({row.setup_seconds, row.solve_seconds});
  }
  EXPECT_GT(in_part, 0) << "no kill within a group";
  EXPECT_EQ(times.size(), 12U);
  for (const auto& [key, each] : times) EXPECT_EQ(each.size(), 1U) << key << " was made again";
  expect_sessions_of_rows();
}

TEST_F(CampaignTest, MissingGroupsAreToldAndMergedOnlyWhenAsked) {
  experiment("\"self-stopped\"");
  plan();
  ASSERT_EQ(run(shard("1/2")).code, 0);
  const Outcome refused = merge();
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("groups of runs of trial are not done"), std::string::npos) << refused.err;
  EXPECT_FALSE(fs::exists(merged()));
  const Outcome partial = merge({"--partial"});
  EXPECT_EQ(partial.code, 0) << partial.err;
  const std::size_t some = timeless_rows(merged() / "runs.csv").size();
  EXPECT_GT(some, 0U);
  const Outcome status = run({"status", path("campaign"), "--json"});
  EXPECT_EQ(status.code, 0);
  EXPECT_NE(status.out.find("\"groups\": 18"), std::string::npos) << status.out;
  ASSERT_EQ(run(shard("2/2")).code, 0);
  EXPECT_EQ(merge().code, 0);
  EXPECT_GT(timeless_rows(merged() / "runs.csv").size(), some);
  expect_like_single();
}

TEST_F(CampaignTest, PartsOfAnotherProgramExperimentOrFileAreRefused) {
  experiment("\"self-stopped\"");
  plan();
  run_shards(2);
  const fs::path head = parts().front() / "trial" / "run.toml";
  const std::string good = file_text(head);
  for (const char* line : {"# program: ", "# experiment: ", "# input: a ", "# size: "}) {
    replace(head, line, std::string(line) + "x");
    const Outcome o = merge();
    EXPECT_EQ(o.code, 2) << line;
    EXPECT_NE(o.err.find("its rows were made from "), std::string::npos) << o.err;
    EXPECT_NE(o.err.find(parts().front().filename().string()), std::string::npos) << o.err;
    std::ofstream(head) << good;
  }
  replace(parts().front() / "trial" / "env.json", "\"compiler\": \"", "\"compiler\": \"other ");
  const Outcome o = merge();
  EXPECT_EQ(o.code, 2);
  EXPECT_NE(o.err.find("built otherwise"), std::string::npos) << o.err;
}

TEST_F(CampaignTest, ADamagedPartIsLeftOutWithAWord) {
  experiment("\"self-stopped\"");
  plan();
  run_shards(2);
  std::ofstream(parts().front() / "trial" / "runs.csv") << "not,a,table\n";
  const Outcome refused = merge();
  EXPECT_EQ(refused.code, 3);  // a file that cannot be read, not a shard that is still to be run
  EXPECT_NE(refused.err.find("left out: "), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("run its shard again"), std::string::npos) << refused.err;
  EXPECT_NE(
      refused.err.find("are not done or in parts that cannot be read, such as " + parts().front().string()),
      std::string::npos)
      << refused.err;
  fs::remove_all(parts().front());
  run_shards(2);
  EXPECT_EQ(merge().code, 0);
  expect_like_single();
}

TEST_F(CampaignTest, LostRowsCurvesOrPlannedGroupsAreNoticed) {
  experiment("\"converge\"");
  plan();
  run_shards(1);
  const fs::path part = parts().front() / "trial";
  const auto without = [](std::string text, std::size_t lines) {  // the last ones
    for (; lines > 0; --lines) text.erase(text.rfind('\n', text.size() - 2) + 1);
    return text;
  };
  const auto refused = [&](const char* told, int code) {
    const Outcome o = merge();
    EXPECT_EQ(o.code, code) << o.err;
    EXPECT_NE(o.err.find(told), std::string::npos) << o.err;
  };
  const std::string rows = file_text(part / "runs.csv");
  std::ofstream(part / "runs.csv") << without(rows, 1);
  refused("runs.csv: 1 rows of finished groups are missing", 3);
  std::ofstream(part / "runs.csv") << rows;
  fs::rename(part / "trace.h5", folder_ / "away.h5");
  refused("curves of finished groups are missing", 3);
  fs::rename(folder_ / "away.h5", part / "trace.h5");
  for (const char* name : {"run.toml", "env.json"}) {
    fs::rename(part / name, folder_ / "away");
    refused((std::string(name) + ": is missing").c_str(), 3);
    fs::rename(folder_ / "away", part / name);
  }
  const fs::path cells = folder_ / "campaign" / "cells.csv";
  const std::string groups = file_text(cells);
  std::ofstream(cells) << without(groups, 1);
  refused("is not in cells.csv; plan the campaign again", 2);
  std::ofstream(cells) << groups;
  EXPECT_EQ(merge().code, 0);
  expect_like_single();
}

TEST_F(CampaignTest, UnlikeMachinesAreRefusedUnlessASnapshotIsWholeOnOne) {
  experiment("\"self-stopped\"");
  plan();
  run_shards(2);
  replace(parts().front() / "trial" / "env.json", "\"cpu\": \"", "\"cpu\": \"another ");
  const Outcome refused = merge();
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("unlike machines"), std::string::npos) << refused.err;
  const Outcome o = merge({"--by-machine"});
  EXPECT_EQ(o.code, 0) << o.err;
  expect_like_single();
  EXPECT_NE(file_text(merged() / "machines.csv").find("another"), std::string::npos);

  // one of them makes all: its rows are taken, and nothing is mixed
  fs::rename(parts().front(), folder_ / "away");
  run_shards(2);
  fs::rename(folder_ / "away", folder_ / "campaign" / "parts" / "away");
  EXPECT_EQ(merge().code, 0);
  EXPECT_FALSE(fs::exists(merged() / "machines.csv"));
}

/// A solver may have threads of its own: a shard keeps as many processors.
TEST_F(CampaignTest, ThreadsOfSingleSolversAreThoseOfOneProcess) {
  if (available_cpus().count < 2) GTEST_SKIP() << "one processor: two threads are refused";
  experiment("\"self-stopped\"");
  replace(folder_ / "trial.toml", "name = \"nsgs\"\n", "name = \"nsgs\"\nthreads = [1, 2]\n");
  plan();
  EXPECT_NE(file_text(folder_ / "campaign" / "plan.toml").find("threads = 2\n"), std::string::npos);
  run_shards(2);
  EXPECT_EQ(merge().code, 0);
  expect_like_single();
}

/// A shard narrows its processors to what the plan asks for: that makes no other machine of this one.
TEST_F(CampaignTest, PartsFitTogetherWhateverTheyWereNarrowedTo) {
  if (available_cpus().count < 2) GTEST_SKIP() << "one processor: there is nothing to narrow";
  experiment("\"self-stopped\"");
  plan();
  ASSERT_EQ(run(shard("1/2")).code, 0);
  std::vector<std::string> beside = shard("2/2");
  beside.push_back("--beside");
  ASSERT_EQ(run(beside).code, 0);
  const Outcome o = merge();
  EXPECT_EQ(o.code, 0) << o.err;
  expect_like_single();
}

TEST_F(CampaignTest, UnlikeMachinesWithinASnapshotAreRefusedAlways) {
  experiment("\"self-stopped\"");
  plan({"--unit", "cell"});
  run_shards(2);
  replace(parts().front() / "trial" / "env.json", "\"cpu\": \"", "\"cpu\": \"another ");
  const Outcome o = merge({"--by-machine"});
  EXPECT_EQ(o.code, 2);
  EXPECT_NE(o.err.find("--unit snapshot"), std::string::npos) << o.err;
}

TEST_F(CampaignTest, CountsFromUnlikeMachinesAreMerged) {
  experiment("\"converge\"");
  plan({"--unit", "cell"});
  run_shards(2);
  replace(parts().front() / "trial" / "env.json", "\"cpu\": \"", "\"cpu\": \"another ");
  EXPECT_EQ(merge().code, 0);
  EXPECT_FALSE(fs::exists(merged() / "machines.csv"));
  expect_like_single();
}

TEST_F(CampaignTest, NumbersThatWereRoundedOtherwiseAreRefused) {
  for (const auto& [key, other] :
       {std::pair("\"kernels\": \"", "portable "), std::pair("\"blas\": \"", "OpenBLAS or ")}) {
    fs::remove_all(folder_ / "campaign");
    experiment("\"converge\"");
    plan({"--unit", "cell"});
    run_shards(2);
    replace(parts().front() / "trial" / "env.json", key, std::string(key) + other);
    const Outcome refused = merge();
    EXPECT_EQ(refused.code, 2);
    EXPECT_NE(refused.err.find("rounded otherwise"), std::string::npos) << refused.err;
    EXPECT_NE(refused.err.find(other), std::string::npos) << refused.err;
  }
}

TEST_F(CampaignTest, TwoShardsOnOneMachineTakeTurnsUnlessAsked) {
  experiment();
  plan();
  const pid_t first = start(shard("1/2")), second = start(shard("2/2"));
  const Outcome one = finish(first), two = finish(second);
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(two.code, 0) << two.err;
  EXPECT_EQ(merge().code, 0);
  expect_like_single();
  fs::remove_all(folder_ / "campaign" / "parts");
  std::vector<std::string> beside = shard("1/1");
  beside.emplace_back("--beside");
  const pid_t third = start(beside), fourth = start(beside);  // both make all: rows of one are taken
  EXPECT_EQ(finish(third).code, 0);
  EXPECT_EQ(finish(fourth).code, 0);
  EXPECT_EQ(merge().code, 0);
  expect_like_single();
}

TEST_F(CampaignTest, ScenesAreRecordedByShardsToo) {
  std::ofstream(folder_ / "trial.toml")
      << "artefact = \"x\"\nscenes = [\"stiffcubes\"]\nprotocols = [\"self-stopped\"]\nmax_steps = 2\n"
         "[[recordings]]\nname = \"toy\"\nscene = \"springtoy\"\n[[solvers]]\nname = \"pgs\"\n";
  const Outcome first = run({"plan", path("trial.toml"), "-o", path("campaign")});
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_NE(first.err.find("2 of them missing"), std::string::npos) << first.err;
  const Outcome early = run(shard("1/1"));
  EXPECT_EQ(early.code, 2);
  EXPECT_NE(early.err.find("--recordings"), std::string::npos) << early.err;
  for (const char* which : {"1/2", "2/2"}) {
    std::vector<std::string> words = shard(which);
    words.emplace_back("--recordings");
    EXPECT_EQ(run(words).code, 0);
  }
  const Outcome second = run({"plan", "-o", path("campaign")});  // the plan knows the rest
  EXPECT_EQ(second.code, 0) << second.err;
  run_shards(2);
  EXPECT_EQ(merge().code, 0);
  EXPECT_FALSE(timeless_rows(merged() / "runs.csv").empty());
}

TEST_F(CampaignTest, RecordingsOfOneNameAreOfOneKind) {
  const auto write = [&](const std::string& name, const std::string& seconds) {
    std::ofstream file(folder_ / name);
    file << "artefact = \"a\"\nprotocols = []\nsteps = true\n[[recordings]]\nname = \"slow\"\n";
    file << "scene = \"springtoy\"\nset = { \"time.duration_s\" = " << seconds << " }\n";
  };
  write("one.toml", "0.01");
  write("same.toml", "0.01");
  write("other.toml", "0.02");
  fs::create_directory(folder_ / "empty");
  fs::create_directory(folder_ / "empty_too");
  const Outcome o = run({"plan", path("one.toml"), path("same.toml"), "-o", path("campaign"), "--costs",
                         path("empty"), "--costs", path("empty_too")});
  EXPECT_EQ(o.code, 0) << o.err;
  expect_error({"plan", path("one.toml"), path("other.toml"), "-o", path("second")}, 2,
               "both have a recording 'slow', with other settings");
}

TEST_F(CampaignTest, MistakesAreOneLine) {
  experiment("\"self-stopped\"");
  expect_error({"plan", "-o", path("campaign")}, 2, "name the experiments");
  expect_error({"plan", path("trial.toml"), path("trial.toml"), "-o", path("campaign")}, 2, "named twice");
  expect_error({"plan", path("trial.toml"), "-o", path("campaign"), "--unit", "row"}, 2, "--unit");
  expect_error({"plan", path("trial.toml"), "-o", path("campaign"), "--costs", path("nowhere")}, 3,
               "--costs");
  expect_error({"status", path("campaign")}, 3, "no campaign");
  expect_error({"merge", path("nowhere")}, 3, "no campaign");
  plan();
  expect_error(shard("0/2"), 2, "--shard 0/2");
  expect_error({"run", "--plan", path("campaign"), "--size", "medium"}, 2, "--size: does not go with --plan");
  expect_error({"run", "--plan", path("campaign"), path("trial.toml")}, 2, "leave");
  expect_error({"run", path("trial.toml"), "--shard", "1/2"}, 2, "--shard: goes with --plan");
  expect_error({"run"}, 2, "--plan DIR");
  std::ofstream(folder_ / "trial.toml", std::ios::app) << "law = \"pyramid\"\n";
  expect_error(shard("1/2"), 2, "another version of the experiment file");
  EXPECT_EQ(run({"status", path("campaign")}).code, 0);
  EXPECT_EQ(run({"status", path("campaign"), "--scale", "1,3"}).code, 0);
  expect_error({"status", path("campaign"), "--scale", "0"}, 2, "--scale");
  expect_error({"status", path("campaign"), "--scale", "2", "--slow-share", "2"}, 2, "--slow-share");
  replace(folder_ / "campaign" / "plan.toml", "program", "programs");
  expect_error(shard("1/2"), 3, "plan.toml");
}

}  // namespace
}  // namespace signorini::campaign_test
