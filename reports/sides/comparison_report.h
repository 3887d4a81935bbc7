// Sides of a set of models side by side, as a page, a text or data: devices, versions of a library, contracts, runs.
// Filled once (src/app/commands/compare_sides/side_report.h does it), then written; nothing in it is formatted or
// escaped, and every text may be hostile.
//
//   infimum report compare resnet50.onnx --by device          the axis kDevice: bounds of a store's devices
//   infimum report compare resnet50.onnx --run a --run b      the axis kChange: two runs, with a verdict
//
// Equal reports give equal bytes, and all forms hold the same numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/findings/finding.h"
#include "analyzer/sides/side_comparison.h"
#include "reports/run/node_table.h"
#include "reports/text/section.h"

namespace infimum {

enum class ComparisonAxis {
  kDevice,     // "device": bounds on several devices
  kLibrary,    // "library": bounds with several versions of a library
  kContract,   // "contract": bounds under several contracts
  kFramework,  // "framework": runs of several engines
  kPrecision,  // "precision": runs of several precisions
  kChange,     // "change": runs before and after
};
std::string_view Name(ComparisonAxis axis);
std::optional<ComparisonAxis> FindComparisonAxis(std::string_view name);
// Whether its sides are runs; else they are bounds of a store.
bool IsOfRuns(ComparisonAxis axis);

struct ReportSide {
  std::string label;  // no other side has the same
  std::string device;
  std::string generation;            // empty where unknown
  std::optional<std::int64_t> year;  // of the generation
  std::string environment;           // "cudnn 7.6.4, cublas 10.1"; of a run its conditions
  std::string contract;
  std::string framework;          // of a run
  std::vector<Finding> findings;  // of a run, ranked
};

// What a side does not know of a model.
struct SideGap {
  std::size_t side = 0;
  std::string model;
  std::size_t layers = 0;
  std::vector<std::string> examples;  // names of layers, at most a few
  std::string reason;
  std::string command;  // that would fill it; may be empty
};

struct ComparisonReport {
  ComparisonAxis axis = ComparisonAxis::kDevice;
  // When the newest of the rows behind the sides was measured; empty of runs, which do not tell. No clock is read, so
  // that a report made again of the same data is the same bytes.
  std::string data_as_of;
  std::string infimum_version;
  std::vector<std::string> conditions;  // of all sides alike: "batch=1", "warm caches"
  std::string quantity;                 // what the totals are: "sequential bound", "end to end"
  std::vector<ReportSide> sides;
  SideComparison comparison;
  std::optional<NodeTable> nodes;  // of runs
  std::vector<SideGap> gaps;
  // Why there is no verdict: "after.json is noisy: ..."; empty where there is one.
  std::vector<std::string> no_verdict;
  std::vector<std::string> cautions;  // what may be behind the differences beside what the sides are
  std::vector<std::string> remarks;
};

// The answer in one sentence.
std::string ComparisonHeadline(const ComparisonReport& report);
// "Data of 2026-11-21T10:47:44Z"; empty where that is not known.
std::string DataAsOf(const ComparisonReport& report);
// "resnet50 by device"
std::string ComparisonTitle(const ComparisonReport& report);

// Of times: "+10.3 % (+9.1 to +11.5 %)", "3.21 times as long (3.1 to 3.3)", "5.43 times as fast (5.2 to 5.6)"; where no
// spread is known "+7.0 %" and kNoSpread.
std::string DifferenceText(const Difference& difference);
inline constexpr std::string_view kNoSpread = " °";
// "slower", "faster", "within noise", "undecided"
std::string VerdictText(const Difference& difference);

// As titled tables, for terminal, Markdown and page, in the order in which they answer the axis' question. `most` rows
// of those that list layers; 0: all.
std::vector<Section> ComparisonSections(const ComparisonReport& report, std::size_t most);

// Why a layer is not faster on a side than on the baseline, by its distance from its roofline there; "" where nothing
// tells.
std::string ReasonOfNoGain(const SideTime& subject, const SideTime& baseline, const Difference& difference);

// {"schema": "infimum.comparison/1", ...}: README.md.
std::string ComparisonJson(const ComparisonReport& report);
// A line for each layer and side.
std::string ComparisonCsv(const ComparisonReport& report);
std::string ComparisonMarkdown(const ComparisonReport& report);
// For a terminal; `width` 0: as wide as needed.
std::string ComparisonText(const ComparisonReport& report, std::size_t width);
std::string ComparisonPage(const ComparisonReport& report);

}  // namespace infimum
