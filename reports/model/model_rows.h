// Bound against measured, row by row: layers that the engine fused stand in one row, and its bound is the best way to
// run them alone or as the regions that were measured.
//
//   engine row "fused Conv_0" = {Conv_0 (bound 1.0 ms), Relu_1 (0.2 ms)}, 1.5 ms; region {Conv_0, Relu_1} 1.05 ms
//     -> one row {Conv_0, Relu_1}: bound 1.05 ms, measured 1.5 ms, gap 0.45 ms
//
// Layers that the engine does not show stand in a row for each region that the fused bound chose, else alone.
// FamilySteps lead from the sum of the rows' bounds to the measured end-to-end time and always add up to it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/report_model.h"

namespace infimum {

inline constexpr std::string_view kEngineOnlyName = "engine only";  // of rows without layers

struct ModelRow : ComparedRow {
  LayerId main;                               // of its layers: the one with the most FLOPs that is not free
  std::string family;                         // the main layer's; "engine only" without layers
  std::string_view status = kEngineOnlyName;  // the weakest of its layers': see StatusOf
  std::string candidate;                      // what runs it so fast: of several pieces "onednn/a + onednn/b"
  Latency floor{0};                           // the longest of its layers': as one they need no less
  std::string floor_by;                       // what decides it
  Flops flops;                                // by the textbook
  Flops conventional;                         // only what contributes: valid taps, unmasked positions
  Bytes bytes;
  std::size_t busy = 0;  // of its layers those that are not free

  std::optional<Latency> gap() const {
    if (!best || !measured) return std::nullopt;
    return *measured - *best;
  }
};

// The names of the engine's layers that ran it.
std::vector<std::string> EngineLayersOf(const ReportModel& report, const ModelRow& row);

// One row for each engine row, and for each chosen region and each other layer in none, ordered by first layer;
// engine-only rows last.
std::vector<ModelRow> ModelRows(const ReportModel& report);

// Indices of rows with the largest gap first (without a run: the largest bound first); at most `count`.
std::vector<std::size_t> LargestRows(const std::vector<ModelRow>& rows, std::size_t count);

// The main layer's name, "Conv_0", with how many others that take time are fused into it, "Conv_0 (+2)"; the engine's
// names where there is no layer.
std::string RowLabel(const ReportModel& report, const ModelRow& row);

}  // namespace infimum
