// What a report shows: the graph, the bracket and the run as the analyzer has them, and what only a report adds (edges
// between layers, roofs, commands, advice). Filled once, then written as HTML, Markdown, JSON or a one-screen summary.
// Nothing here is formatted or escaped; every text may be hostile (names come from model files and traces), and only
// the writers make it safe.
//
// Equal models give equal bytes: no writer reads a clock, a locale or the terminal.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/bracket/bracket.h"
#include "analyzer/bracket/verdict.h"
#include "analyzer/findings/finding.h"
#include "analyzer/gap/waterfall.h"
#include "analyzer/rows/workload_candidates.h"
#include "infimum/graph/model_graph.h"
#include "infimum/graph/run_profile.h"
#include "infimum/measurement/device.h"

namespace infimum {

// The stand-alone source of a configuration that findings are about, as `infimum emit` writes it.
struct EmittedSource {
  std::string config;
  std::string library;    // "onednn"; empty where none has a source for it
  std::string file_name;  // "onednn_convolution_f32_1x64x56x56_64_3x3_1x1_1d1f5f4e.cc"; empty likewise
  std::string text;
  std::string command;  // that writes the whole project, with what the file includes
  std::string reason;   // why there is none
};

// A layer reads what another one writes.
struct ReportEdge {
  std::size_t from = 0;  // indices of layers of the graph
  std::size_t to = 0;

  friend auto operator<=>(const ReportEdge&, const ReportEdge&) = default;
};

// A framework's run, and what of its samples a report shows. End to end without a profiler; rows from a separate run
// with one.
struct ReportRun {
  RunProfile profile;
  std::vector<AlignedRow> rows;  // that have a time and are in no body; a layer of the graph is in one at most
  Latency latency{0};            // T: the point value
  Latency minimum{0};
  Latency median{0};  // of the repetitions' medians
  Latency p95{0};
  std::optional<Interval> interval;  // 95 %; absent where no spread is known
  std::int64_t repetitions = 0;
  std::int64_t samples = 0;
};

// A ceiling of the roofline.
struct Roof {
  std::string name;       // "f32 arithmetic", "memory"
  double per_second = 0;  // FLOPs or bytes
};

// Something that the bound lacks, and the command that would measure it.
struct MissingItem {
  std::string what;    // a layer or a configuration
  std::string reason;  // "not measured yet", "no candidate supports it"
  double share = 0;    // of the time, by the floor
  double flops = 0;    // share of the conventional FLOPs
  std::string command;
};

// Advice that fits the situation: what is doubtful, and what to do.
struct Advice {
  std::string text;
  std::string command;  // may be empty
};

// What leads commands to this report's rows, each ready for a shell, or empty.
struct ReportArguments {
  std::string model;     // "resnet50.onnx --dim batch=1 --db team.db --threads 2"; empty: no command can be told
  std::string place;     // the same without threads
  std::string device;    // "--device V100" where it is not this one
  std::string contract;  // "--contract f16" where it is not the model's own
};

// The libraries whose versions are worth comparing: of GPUs and of processors.
inline constexpr std::array<const char*, 2> kComparedLibraries = {"cudnn", "onednn"};

// What else the store knows, that another report could set beside this one.
struct ReportNeighbours {
  bool devices = false;    // rows of other devices
  bool versions = false;   // rows of this device with other versions of its libraries
  bool contracts = false;  // rows of this model under other contracts
};

struct ReportModel {
  ReportArguments arguments;
  ReportNeighbours neighbours;
  // Of the commands that measure a layer again; absent where this device is not the one to measure on.
  std::optional<std::string> bench_options = "";
  std::string title;
  // When the newest of the measurements that it shows was made, "2026-11-21T10:47:44Z", so that a report made again
  // says the same; empty where there are none.
  std::string data_as_of;
  std::string infimum_version;

  std::string model_name;
  std::string device_name;
  std::string device_key;
  std::string generation;
  Environment environment;

  ModelGraph graph;
  Bracket bracket;                            // of the graph
  std::vector<ReportEdge> edges;              // of the graph, ascending, without repeats
  std::vector<WorkloadCandidates> workloads;  // of its layers and regions, each once
  // By layer, and by region of the bracket: the index into workloads, where it has any candidates.
  std::vector<std::optional<std::size_t>> layer_workloads;
  std::vector<std::optional<std::size_t>> region_workloads;

  std::optional<ReportRun> run;
  std::optional<Waterfall> waterfall;  // of the run
  std::vector<Finding> findings;       // about the run, ranked
  std::vector<EmittedSource> sources;  // of the findings' cases, the largest gain first
  std::vector<Roof> arithmetic_roofs;
  std::vector<Roof> bandwidth_roofs;
  std::vector<MissingItem> missing;
  std::vector<Advice> advice;
};

// What the evidence allows to be said of the run; absent without one, or where nothing is known.
std::optional<GapVerdict> VerdictOf(const ReportModel& report);

// What the run takes above the demonstrated run where that was faster, else above the best known bound, or above the
// dense-read floor where that is the higher one; negative: the run is faster. `interval` holds it: from what is between
// the near ends of run's and bound's intervals to what is between the far ones, so that it is wider than 95 %.
struct PossibleGap {
  Latency latency{0};
  std::optional<Interval> interval;
};
std::optional<PossibleGap> GapOf(const ReportModel& report);

// Of each framework but the run's the fastest run, by time: upper limits of the bracket.
std::vector<UpperLimit> OtherRunsOf(const ReportModel& report);

// What the findings' gains are of: the run, or its layers under the profiler where those took longer; none without a
// run.
Latency FindingsBasis(const ReportModel& report);

// "Data of 2026-11-21T10:47:44Z", or that there are none.
std::string DataAsOf(const ReportModel& report);

// How far a bound speaks for the whole model, by the shares of its work: at least nine tenths measured, so that it is
// called the best measured kernels'; over a tenth of its work or FLOPs without a time, so that it is said to be of the
// rest; most of it measured, so that a run above it could be said to lose time.
bool IsMeasured(const ReportModel& report);
bool LacksMuch(const ReportModel& report);
bool PromisesGains(const ReportModel& report);

bool IsProcessor(const ReportModel& report);

// Nothing of it has a time on this device: floors and roofline are all that can be shown.
bool HasFloorsAlone(const ReportModel& report);

// The causes that the findings' rules looked for in the report's run and did not find (analyzer/findings/rules.h); none
// without a run whose layers are known.
//
//   a run on one thread under strict-f32, one finding of which is "slower-algorithm":
//     unfused-chain     "layers apart that run faster as one"
//     layout-changes    "reorders, reformats and copies of the engine's own"
//     ...               nothing about Tensor Cores, 8 bits or branches, which such a run cannot have
std::vector<AbsentCause> AbsentCausesOf(const ReportModel& report);

// "infimum bench --layer '<config>'", quoted for a POSIX shell.
// `options` are those that lead to the report's own store and threads, each ready for the shell.
std::string ReproductionCommand(std::string_view config, std::string_view options = "");

}  // namespace infimum
