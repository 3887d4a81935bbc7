// A comparison as titled tables: worked out once, so that terminal, Markdown and page show the same words and numbers.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "reports/sides/comparison_report.h"
#include "reports/text/table.h"

namespace infimum {

// What a cell's number says, beside its text.
enum class CellTone {
  kPlain,
  kFaster,     // than the baseline, beyond what matters
  kSlower,     // likewise
  kSame,       // within noise
  kUndecided,  // nobody can tell
  kUnknown,    // nothing is known
};

struct SectionCell {
  std::string text;
  std::string aside;  // behind it, "(0.8x)"; may be empty
  CellTone tone = CellTone::kPlain;
  std::optional<double> ratio;   // to the baseline: how strongly a page colours it
  std::optional<double> number;  // what its column is sorted by
  bool is_best = false;          // of the sides in its row

  SectionCell(std::string shown = "") : text(std::move(shown)) {}

  std::string Whole() const { return aside.empty() ? text : text + " " + aside; }
};

struct Section {
  std::string id;     // "ladder"
  std::string title;  // "Totals"
  std::string note;   // what the table says, or why it is empty; may be empty
  std::vector<TableColumn> columns;
  std::vector<std::vector<SectionCell>> rows;
  std::size_t left_out = 0;  // rows that `most` cut
  // From here on a column is a side's, one for each.
  std::optional<std::size_t> first_side = std::nullopt;
};

// In the order in which they answer the axis' question. `most` rows of those tables that list layers; 0: all.
std::vector<Section> ComparisonSections(const ComparisonReport& report, std::size_t most);

// Why a layer is not faster on a side than on the baseline, by its distance from its roofline there; "" where nothing
// tells.
std::string ReasonOfNoGain(const SideTime& subject, const SideTime& baseline, const Difference& difference);

}  // namespace infimum
