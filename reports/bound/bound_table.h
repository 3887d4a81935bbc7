// What `infimum bound` prints for people, and as CSV.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/bracket/bracket.h"
#include "reports/text/section.h"

namespace infimum {

// Bracket, coverage, selection; with `layers` also each layer. `width` 0: as wide as needed.
std::string BoundTable(const ModelGraph& graph, const Bracket& bracket, bool layers, std::size_t width);

// One line a quantity (floor-dense-read and the other classes, each variant, demonstrated), or with `layers` one a
// layer.
std::string BoundCsv(const ModelGraph& graph, const Bracket& bracket, bool layers);

// "floor, dense-read", as bounds are "bound, sequential".
std::string FloorName(ProgramClass program_class);

// The rows of every table of a bracket: its floors and bounds with time, interval and what they assume; and one of
// them.
std::vector<TableRow> BracketRows(const Bracket& bracket);
TableRow BracketRow(std::string name, Latency latency, const std::optional<Interval>& interval, std::string note);

// "1 thread, warm, cross-fitted, the model's own types, fullest, then newest libraries": printed with every bound.
std::string SelectionText(const Selection& selection);

// What each layer needs alone at least, and what decides it; the longest first, at most so many (0: all).
Section RooflineOfLayers(const ModelGraph& graph, const Bracket& bracket, std::size_t most);

}  // namespace infimum
