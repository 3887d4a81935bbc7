// What a report shows, as plain values: filled once from graph, bracket and run (the workflow does it), then
// written as HTML, Markdown, JSON or a one-screen summary. Nothing here is formatted or escaped; every
// text may be hostile (names come from model files and traces), and only the writers make it safe.
//
// Equal models give equal bytes: no writer reads a clock, a locale or the terminal.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/bracket/bracket.h"
#include "analyzer/findings/finding.h"
#include "analyzer/gap/waterfall.h"
#include "infimum/measurement/measurement.h"

namespace infimum {

struct ReportInput {
  std::string name;
  std::string dtype;  // "f32"
  std::string shape;  // "1x3x224x224"
};

// How a layer stands in the report: the bracket's status, and apart from it the layers that no workload
// could be made for.
enum class RowStatus { kMeasured, kEstimated, kFree, kMissing, kUnknown };
std::string_view Name(RowStatus status);  // "measured", "estimated", "free", "missing", "unknown"

// One candidate of a workload, and what became of it.
struct ReportCandidate {
  std::string name;
  Outcome outcome = Outcome::kMeasured;
  std::string reason;                // of every outcome but measured
  std::optional<Latency> latency;    // measured only, by the selection's statistic
  std::optional<Interval> interval;  // of its own true time
  std::int64_t repetitions = 0;
  std::vector<std::string> flags;       // "noisy", "unconverged"
  std::optional<double> numeric_error;  // in the contract's measure
};

// A configuration or region under a contract, once for all layers that have it.
struct ReportWorkload {
  std::string config;
  std::string contract;
  std::vector<ReportCandidate> candidates;    // the fastest first, then those that did not run
  std::optional<std::size_t> best;            // that the bound counts
  std::optional<std::size_t> library_choice;  // what its library would have run
  std::optional<Latency> regret;              // of that choice
  bool regret_is_validated = false;           // on repetitions that did not choose the winner
  std::string measured_at;                    // the newest of them: "2026-11-21T10:47:44Z"
};

// The stand-alone source of a configuration that findings are about, as `infimum emit` writes it.
struct EmittedSource {
  std::string config;
  std::string library;    // "onednn"; empty where none has a source for it
  std::string file_name;  // "onednn_convolution_f32_1x64x56x56_64_3x3_1x1_1d1f5f4e.cc"; empty likewise
  std::string text;
  std::string command;  // that writes the whole project, with what the file includes
  std::string reason;   // why there is none
};

// One layer of the graph.
struct ReportLayer {
  std::string name;
  std::string op;
  std::string family;  // "convolution"; the operator's name where there is no workload
  std::string config;  // canonical text; empty without a workload
  RowStatus status = RowStatus::kMissing;
  std::string reason;                // why free, missing or unknown
  std::string candidate;             // "onednn/brgconv:avx512_core"; empty where none ran
  std::string library_choice;        // what its library would have run; empty where no library chooses
  std::optional<Latency> regret;     // of that choice
  std::optional<Latency> latency;    // what the bound counts for it; absent when missing or unknown
  std::optional<Interval> interval;  // measured only
  Latency floor{0};
  bool on_critical_path = false;
  Flops flops;                          // direct: what the literature counts
  Flops conventional;                   // of them what contributes: valid taps, unmasked positions
  Bytes bytes;                          // compulsory, read and written
  std::optional<std::size_t> workload;  // index into ReportModel::workloads, where it has any candidates
};

// A layer reads what another one writes.
struct ReportEdge {
  std::size_t from = 0;  // indices into ReportModel::layers
  std::size_t to = 0;

  friend auto operator<=>(const ReportEdge&, const ReportEdge&) = default;
};

// Layers that were measured as one; `is_chosen`: the fused bound runs them so.
struct ReportRegion {
  std::vector<std::size_t> layers;  // ascending indices into ReportModel::layers
  std::string rule;
  std::string config;  // empty where only observed
  std::string candidate;
  Latency latency{0};
  Latency unfused{0};        // its layers one by one
  bool has_missing = false;  // one of them has no time of its own
  bool is_chosen = false;
  std::optional<std::size_t> workload;  // as in ReportLayer
};

// Layers of the graph that the engine executed as one, and what that took. `layers` is empty for work
// that only the engine does (layout transforms it inserted).
struct EngineRow {
  std::vector<std::size_t> layers;         // ascending indices into ReportModel::layers; in one row at most
  std::vector<std::string> engine_layers;  // as the engine calls them
  Latency latency{0};
};

// A framework's run. End to end without a profiler; rows from a separate run with one.
struct ReportRun {
  std::string framework;
  std::string version;
  Latency latency{0};  // T: the smallest repetition median
  Latency minimum{0};
  Latency median{0};  // of the repetitions' medians
  Latency p95{0};
  std::optional<Interval> interval;  // of the typical repetition, 95 %; absent where no spread is known
  std::int64_t repetitions = 0;
  std::int64_t samples = 0;
  std::map<std::string, std::string> settings;
  std::vector<EngineRow> rows;
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
  std::string device;    // "--device V100" where it is not this one
  std::string contract;  // "--contract f16" where it is not the model's own
};

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
  std::string model_sha256;
  std::int64_t opset = 0;
  std::vector<ReportInput> inputs;

  std::string device_name;
  std::string device_key;
  std::string generation;
  Environment environment;
  std::string selection;  // in words, as printed with every bound
  std::string contract;

  Floor floor;
  Floor conventional_floor;
  std::vector<Bound> bounds;
  std::optional<AlgorithmRegret> regret;
  std::vector<Inversion> inversions;
  std::vector<WhatIfOutcome> what_ifs;
  std::optional<Latency> demonstrated;
  std::optional<CompositionError> composition;  // of demonstrated
  std::optional<ReportRun> run;
  std::optional<Waterfall> waterfall;  // of the run
  std::vector<Finding> findings;       // about the run, the largest gain first
  Coverage coverage;

  std::vector<ReportLayer> layers;        // in the graph's order
  std::vector<ReportEdge> edges;          // ascending, without repeats
  std::vector<ReportRegion> regions;      // by first layer
  std::vector<ReportWorkload> workloads;  // of layers and regions, each once
  std::vector<EmittedSource> sources;     // of the findings' cases, the largest gain first
  std::vector<RewritePass> passes;
  std::vector<Roof> arithmetic_roofs;
  std::vector<Roof> bandwidth_roofs;
  std::vector<MissingItem> missing;
  std::vector<Advice> advice;
};

// Null where the report has none.
const Bound* FindBound(const ReportModel& report, BoundVariant variant);

// The bound that headlines compare with: `fused-sequential`, else `sequential`, else the first; null where there is
// none.
const Bound* MainBound(const ReportModel& report);

// What the run takes above the main bound, or above the floor where that is the higher one; negative: the run is
// faster. `interval` is of typical repetitions: from what is between the near ends of run's and bound's intervals to
// what is between the far ones, so that it is wider than 95 %. `latency` is of the best repetitions, and may lie
// outside.
struct PossibleGap {
  Latency latency{0};
  std::optional<Interval> interval;
};
std::optional<PossibleGap> GapOf(const ReportModel& report);

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

// "infimum bench --layer '<config>'", quoted for a POSIX shell.
// `options` are those that lead to the report's own store and threads, each ready for the shell.
std::string ReproductionCommand(std::string_view config, std::string_view options = "");

}  // namespace infimum
