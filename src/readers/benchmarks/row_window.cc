#include "src/readers/benchmarks/row_window.h"

#include <algorithm>

#include "src/readers/benchmarks/read_results.h"

namespace infimum::ingest {
namespace {

// Newlines stand in none of the parts.
std::string KeyOfRow(const Measurement& row) {
  std::string key = row.workload.text;
  for (const std::string& part : {row.candidate.name(), row.candidate.input_layout, row.candidate.output_layout,
                                  std::string(Name(row.contract))}) {
    key += '\n';
    key += part;
  }
  return key;
}

void MergeRow(Measurement row, Measurement& into) {
  const bool library_choice = into.candidate.library_choice || row.candidate.library_choice;
  if (row.outcome == Outcome::kMeasured) {
    if (into.outcome == Outcome::kMeasured) {
      into.repetitions.insert(into.repetitions.end(), row.repetitions.begin(), row.repetitions.end());
    } else {
      into = std::move(row);
    }
  } else if (into.outcome == Outcome::kSkipped && row.outcome != Outcome::kSkipped) {
    into = std::move(row);
  }
  into.candidate.library_choice = library_choice;
}

}  // namespace

Status RowWindow::Take(Measurement row) {
  std::string key = KeyOfRow(row);
  ++taken_;
  const auto [entry, added] = index_.try_emplace(std::move(key), rows_.size());
  if (added) {
    bytes_ += 2 * entry->first.size() + row.reason.size();
    rows_.push_back(std::move(row));
  } else {
    MergeRow(std::move(row), rows_[entry->second]);
  }
  return taken_ >= kRowsOfAWindow || bytes_ >= kBytesOfAWindow ? Flush() : Status();
}

Status RowWindow::Flush() {
  const std::span<const Measurement> rows = rows_;
  for (std::size_t begin = 0; begin < rows.size(); begin += kRowsOfABatch)
    INFIMUM_RETURN_IF_ERROR(taker_(rows.subspan(begin, std::min(kRowsOfABatch, rows.size() - begin))));
  rows_.clear();
  index_.clear();
  taken_ = bytes_ = 0;
  return {};
}

}  // namespace infimum::ingest
