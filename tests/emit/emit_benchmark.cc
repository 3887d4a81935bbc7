// Runner and emitted source must time alike: both measure the same layers in turn, and the ratio of their times is
// printed, candidate by candidate.
//
//   benchmarks emit [--rounds N] [WORKLOAD]...        default: five rounds of a 3x3 and a 1x1 convolution of ResNet-50,
//   a
//                                                    matrix product of BERT, and two regions
//
// A round is one process of each, the runner first in one round and the emitted program first in the next; the number
// of each is the smallest of its medians. By hand and on a machine that does nothing else: the times are real.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "infimum/base/text.h"
#include "src/readers/read_results.h"
#include "tests/emit/emitted_program.h"
#include "tests/support/benchmark.h"
#include "tests/support/folders.h"

namespace infimum::testing {
namespace {

const char* const kUsual[] = {
    "convolution dtype=f32:f32:f32 in=1x64x56x56 out_channels=64 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 "
    "groups=1 bias=yes weights=const",
    "convolution dtype=f32:f32:f32 in=1x256x56x56 out_channels=64 kernel=1x1 stride=1x1 dilation=1x1 pad=0,0,0,0 "
    "groups=1 bias=yes weights=const",
    "matmul dtype=f32:f32:f32 a=1x128x768 b=1x768x3072 bias=column weights=const",
    "region [convolution dtype=f32:f32:f32 in=1x128x28x28 out_channels=128 kernel=3x3 stride=1x1 dilation=1x1 "
    "pad=1,1,1,1 groups=1 bias=yes weights=const](in0,w0,w1) ; [pointwise kind=relu dtype=f32:-:f32 in=100352](%0)",
    "region [convolution dtype=f32:f32:f32 in=1x64x56x56 out_channels=256 kernel=1x1 stride=1x1 dilation=1x1 "
    "pad=0,0,0,0 groups=1 bias=yes weights=const](in0,w0,w1) ; [pointwise kind=add dtype=f32:f32:f32 "
    "in=802816,802816](%0,in1) ; [pointwise kind=relu dtype=f32:-:f32 in=802816](%1)",
    "pointwise kind=relu dtype=f32:-:f32 in=4096"};

// By candidate, the least of the rounds.
struct Least {
  std::map<std::string, Latency> medians, minima;

  void Take(const Measurement& row) {
    if (row.repetitions.empty()) return;
    for (const auto& [times, time] :
         {std::pair(&medians, row.repetitions[0].median), {&minima, row.repetitions[0].minimum}}) {
      const auto [entry, added] = times->emplace(row.candidate.name(), time);
      if (!added && time < entry->second) entry->second = time;
    }
  }
};

bool Collect(const std::string& text, Least& least) {
  ResultsTaker taker;
  taker.rows = [&](const Device&, const Environment&, std::span<const Measurement> rows, std::span<const PeakRate>) {
    for (const Measurement& row : rows) least.Take(row);
    return Status();
  };
  std::istringstream input(text);
  const Status status = ReadResults(input, "results", taker);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.error().message.c_str());
  return status.ok();
}

std::string RunRunner(const std::string& workload, const std::filesystem::path& folder) {
  const std::string out = (folder / "runner.jsonl").string();
  std::filesystem::remove(out);
  const std::string command =
      "'" + Program("infimum-microbench-onednn") + "' --quiet --rounds 1 --layer '" + workload + "' -o '" + out + "'";
  if (std::system(command.c_str()) != 0) return "";
  std::ifstream file(out, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

bool Compare(const std::string& text, int rounds) {
  const Result<Workload> workload = ParseWorkload(text);
  if (!workload.ok()) {
    std::fprintf(stderr, "%s: %s\n", text.c_str(), workload.error().message.c_str());
    return false;
  }
  Plan plan;
  plan.entries.push_back({*workload, NativeContract(*workload), 1, 0});
  EmittedProgram program(plan, {"onednn", {}, "benchmark"});
  const std::string trouble = program.Build();
  if (!trouble.empty()) {
    std::fprintf(stderr, "%s\n", trouble.c_str());
    return false;
  }
  Least runner, emitted;
  for (int round = 0; round < rounds; ++round) {
    for (const bool own : {round % 2 == 0, round % 2 != 0}) {
      const bool read = own ? Collect(RunRunner(text, program.folder()), runner) : Collect(program.Run(), emitted);
      if (!read) return false;
    }
  }
  std::printf("%s\n  %-52s %11s %11s %7s %7s\n", text.c_str(), "candidate", "runner us", "emitted us", "median",
              "minimum");
  for (const auto& [candidate, time] : emitted.medians) {
    const auto same = runner.medians.find(candidate);
    if (same == runner.medians.end()) continue;
    std::printf("  %-52s %11.3f %11.3f %7.3f %7.3f\n", candidate.c_str(), same->second.count(), time.count(),
                time / same->second, emitted.minima[candidate] / runner.minima[candidate]);
  }
  return true;
}

int Main(const std::vector<std::string>& arguments) {
  if (const auto reason = WhyNoEmittedProgram()) {
    std::fprintf(stderr, "%s\n", reason->c_str());
    return 1;
  }
  int rounds = 5;
  std::vector<std::string> workloads;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--rounds" && i + 1 < arguments.size()) {
      rounds = static_cast<int>(ParseInteger(arguments[++i]).value_or(5));
    } else {
      workloads.push_back(arguments[i]);
    }
  }
  if (workloads.empty()) workloads.assign(std::begin(kUsual), std::end(kUsual));
  bool done = true;
  for (const std::string& workload : workloads) done = Compare(workload, rounds) && done;
  return done ? 0 : 1;
}

}  // namespace
}  // namespace infimum::testing

INFIMUM_BENCHMARK(emit, "[--rounds N] [WORKLOAD]...") { return infimum::testing::Main({argv + 1, argv + argc}); }
