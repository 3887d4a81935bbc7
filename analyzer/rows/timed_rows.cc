#include "analyzer/rows/timed_rows.h"

#include <algorithm>
#include <utility>

namespace infimum {
namespace {

std::size_t RowMajorRank(std::string_view name) {
  if (name == "plain" || name == "-") return LayoutName::kEveryRank;
  for (std::size_t i = 0; i < name.size(); ++i)
    if (name[i] != static_cast<char>('a' + i)) return LayoutName::kNoRank;
  return name.size();
}

std::vector<LayoutName> TakeApart(std::string_view names) {
  std::vector<LayoutName> list;
  while (true) {
    const std::size_t comma = names.find(',');
    const std::string_view name = names.substr(0, comma);
    list.push_back({std::string(name), RowMajorRank(name)});
    if (comma == std::string_view::npos) return list;
    names.remove_prefix(comma + 1);
  }
}

}  // namespace

const DeclaredLayouts* LayoutTexts::Of(const Candidate& candidate) {
  const auto is_asked = [&](const DeclaredLayouts* declared) {
    return declared != nullptr && declared->input == candidate.input_layout &&
           declared->output == candidate.output_layout;
  };
  if (const auto known = std::ranges::find_if(recent_, is_asked); known != recent_.end()) return *known;
  const DeclaredLayouts*& recent = recent_[oldest_];
  oldest_ = (oldest_ + 1) % recent_.size();
  const auto known = known_.find({candidate.input_layout, candidate.output_layout});
  if (known != known_.end()) return recent = known->second;
  DeclaredLayouts& added = all_.emplace_back(DeclaredLayouts{candidate.input_layout, candidate.output_layout, {}, {}});
  added.inputs = TakeApart(added.input);
  added.outputs = TakeApart(added.output);
  for (const auto* names : {&added.inputs, &added.outputs})
    for (const LayoutName& name : *names) added.is_opaque |= name.text == "opaque";
  known_.emplace(std::pair<std::string_view, std::string_view>(added.input, added.output), &added);
  return recent = &added;
}

TimedRows::TimedRows(std::vector<Measurement> rows) : rows_(std::move(rows)) {
  std::size_t count = 0;
  for (const Measurement& row : rows_) count += row.repetitions.size();
  logs_.reserve(count);  // spans lead into it
  timed_.reserve(rows_.size());
  for (const Measurement& row : rows_) {
    if (row.outcome != Outcome::kMeasured || row.repetitions.empty()) continue;
    TimedRow timed;
    timed.row = &row;
    timed.is_choice = row.candidate.library_choice;
    timed.time = PointValue(row.repetitions);
    timed.best_seen = BestSeen(row.repetitions);
    const std::size_t first = logs_.size();
    for (const Repetition& repetition : row.repetitions) logs_.push_back(LogOf(repetition));
    timed.logs = std::span(logs_).subspan(first);
    timed_.push_back(timed);
  }
}

}  // namespace infimum
