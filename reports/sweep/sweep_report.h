// A sweep, as a page, a text or data: which of its axes decide the time, maps over two of them, what other conditions
// win, which models are worth their time, and every cell.
//
//   SweepReport report{.name = "fully connected", .cells = cells, ...};   // filled by src/app/commands/sweep
//   Analyze(report);                                                      // chooses axes, computes what is shown
//   SweepMarkdown(report); SweepJson(report); SweepPage(report); ...
//
// Cells stand by device, one device after the other, and each has the field "device". Every text may be hostile. Equal
// reports give equal bytes (no clock is read), and all forms hold the same numbers.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/sweep/maps.h"
#include "analyzer/sweep/ranks.h"
#include "analyzer/sweep/sweep.h"
#include "infimum/base/result.h"
#include "reports/text/section.h"

namespace infimum {

// What one device's cells say.
struct DeviceSweep {
  std::string device;
  std::size_t begin = 0, count = 0;  // of SweepReport::cells
  std::size_t measured = 0;
  std::optional<double> utilization;  // the median
  std::optional<SweepMap> utilization_map, floor_map;
  std::optional<MemoryFrontier> memory;
  std::vector<std::size_t> by_parameters, by_flops;  // Pareto fronts; indices count from `begin`
  std::vector<RankCorrelation> ranks;
  RankInversions inversions;
};

struct SweepReport {
  std::string name;  // of the evaluation
  std::string description;
  std::string data_as_of;  // when the newest cell was measured; empty where none was
  std::string infimum_version;
  std::vector<SweepCell> cells;
  double threshold = 0.05;  // what matters, of ratios
  std::string x, y;         // axes of the maps; empty: the two numeric ones that explain most
  std::vector<std::string> remarks;
  // What Analyze() finds.
  SweepQuantity quantity = SweepQuantity::kTime;  // kFloor where nothing was measured
  std::vector<SweepAxis> axes;
  std::optional<Sensitivity> sensitivity;
  std::vector<DeviceSweep> devices;
  std::vector<SpeedUps> speed_ups;
  std::vector<std::optional<SweepMap>> speed_up_maps;  // one for each of those; none where an axis is what differs

  std::span<const SweepCell> CellsOf(const DeviceSweep& device) const {
    return std::span(cells).subspan(device.begin, device.count);
  }
};

// An error where `x` or `y` is no axis, which says what is.
Status Analyze(SweepReport& report);

// "model.choices.nodes" is "nodes" for people.
std::string ShortField(const std::string& field);
std::string SweepHeadline(const SweepReport& report);
// `most` rows of lists, 0: all; maps have their first columns and rows.
std::vector<Section> SweepSections(const SweepReport& report, std::size_t most);

// Every cell; with the beginning of its hash, by which `evaluate --only` runs it again, where `with_hashes`.
Section CellList(const SweepReport& report, std::size_t most, bool with_hashes);

// Of a language model, whose cells have the fields phase ("prefill", "decode"), batch, context and weights: a row for
// each device, type of weights, batch and context, with tokens a second.
bool IsOfTokens(const SweepReport& report);
Section TokensSection(const SweepReport& report, bool rooflines = true);

// Tokens a second of all sequences together.
inline std::optional<double> RateOf(std::int64_t batch, const std::optional<Latency>& token) {
  if (!token || token->count() <= 0) return std::nullopt;
  return static_cast<double>(batch) / std::chrono::duration<double>(*token).count();
}

// A row of it, as curves have it: what is least, and what decides it.
struct TokenRow {
  std::string place;    // "AMD EPYC, 1 thread"
  std::string weights;  // "own", "s4"
  std::int64_t batch = 0, context = 0;
  std::optional<Latency> first, token;  // absent where it does not fit, or leaves out layers
  std::string first_by, token_by;       // "weights", "caches", "arithmetic f16", or why there is nothing

  std::optional<double> rate() const { return RateOf(batch, token); }
};
std::vector<TokenRow> TokenRows(const SweepReport& report);
// What decides over the context, where it changes: "weights up to 8192, caches from 32768". Empty where nothing does.
Section TokenDeciders(const SweepReport& report);
std::string TokensText(const SweepReport& report, std::size_t width);

// {"schema": "infimum.sweep/1", ...}: README.md.
std::string SweepJson(const SweepReport& report);
// A line for each cell, with all its fields.
std::string SweepCsv(const SweepReport& report);
std::string SweepMarkdown(const SweepReport& report);
// For a terminal; `width` 0: as wide as needed.
std::string SweepText(const SweepReport& report, std::size_t width);
std::string SweepPage(const SweepReport& report);

}  // namespace infimum
