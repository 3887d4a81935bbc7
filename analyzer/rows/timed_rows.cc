#include "analyzer/rows/timed_rows.h"

#include <iterator>
#include <optional>
#include <tuple>

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

TimedRows::TimedRows(std::vector<Measurement> rows, const Pace& pace) : rows_(std::move(rows)) {
  std::size_t count = 0;
  for (const Measurement& row : rows_) count += row.repetitions.size();
  logs_.reserve(count);  // spans lead into it
  timed_.reserve(rows_.size());
  for (Measurement& row : rows_) {
    if (row.outcome != Outcome::kMeasured || row.repetitions.empty()) continue;
    TimedRow timed;
    timed.row = &row;
    timed.is_choice = row.candidate.library_choice;
    timed.best_seen = BestSeen(row.repetitions);
    for (Repetition& repetition : row.repetitions) pace.Hold(repetition);
    timed.time = PointValue(row.repetitions);
    const std::size_t first = logs_.size();
    for (const Repetition& repetition : row.repetitions) logs_.push_back(LogOf(repetition));
    timed.logs = std::span(logs_).subspan(first);
    timed_.push_back(timed);
  }
}

namespace {

// Workloads whose constants are as many within so much: a convolution, and the same with a bias and what follows it.
constexpr double kSameConstants = 1.02;

std::vector<Measurement> TakeCold(std::vector<Measurement>& rows) {
  const auto cold = std::stable_partition(rows.begin(), rows.end(),
                                          [](const Measurement& row) { return row.cache != CacheState::kColdWeights; });
  std::vector<Measurement> taken(std::make_move_iterator(cold), std::make_move_iterator(rows.end()));
  rows.erase(cold, rows.end());
  std::erase_if(taken,
                [](const Measurement& row) { return row.outcome != Outcome::kMeasured || row.repetitions.empty(); });
  return taken;
}

// What tells the candidates of a workload apart, and the libraries that ran them.
auto PlaceOf(const Measurement& row) {
  return std::tie(row.workload.text, row.candidate.library, row.candidate.algorithm, row.candidate.input_layout,
                  row.candidate.output_layout, row.contract, row.environment.text);
}

void Shift(Repetition& repetition, Latency by) {
  repetition.minimum += by;
  repetition.median += by;
  repetition.p95 += by;
  for (Latency& sample : repetition.samples) sample += by;
}

}  // namespace

TimedRows::TimedRows(std::vector<Measurement> rows, const std::function<NearConstants(const WorkloadKey&)>& near,
                     const Pace& pace) {
  std::vector<Measurement> cold = TakeCold(rows);
  for (Measurement& row : cold)
    for (Repetition& repetition : row.repetitions) pace.Hold(repetition);
  *this = TimedRows(std::move(rows), pace);
  PutInContext(cold, near);
}

void TimedRows::PutInContext(std::span<const Measurement> cold,
                             const std::function<NearConstants(const WorkloadKey&)>& near) {
  std::map<decltype(PlaceOf(cold[0])), const Measurement*> from_memory;
  for (const Measurement& row : cold) from_memory.emplace(PlaceOf(row), &row);
  const auto cold_of = [&](const TimedRow& timed) -> const Measurement* {
    const auto found = from_memory.find(PlaceOf(*timed.row));
    return found == from_memory.end() ? nullptr : found->second;
  };
  // What constants from memory cost at least: by workload, and by the bytes of a workload's constants.
  struct Least {
    Latency whole = Latency::max(), of_byte = Latency::max();

    void Note(Latency loss, double packed) {
      whole = std::min(whole, loss);
      of_byte = std::min(of_byte, loss / packed);
    }
    Latency Of(double packed) const { return std::min(whole, of_byte * packed); }
  };
  const auto packed = [](const std::optional<Bytes>& own, double bytes) {
    return own ? static_cast<double>(own->value) : bytes;
  };
  std::map<std::string_view, Least> of_workload;
  std::map<double, Least> of_bytes;
  for (const TimedRow& timed : timed_) {
    const Measurement* const row = cold_of(timed);
    const double bytes = row == nullptr ? 0 : near(row->workload).bytes;
    if (!(bytes > 0)) continue;
    const Latency loss = std::max(Latency(0), PointValue(row->repetitions) - timed.time);
    const double own = packed(row->constants ? row->constants : timed.row->constants, bytes);
    of_workload[row->workload.text].Note(loss, own);
    of_bytes[bytes].Note(loss, own);
  }
  const auto borrowed = [&](const Measurement& row, double bytes) -> std::optional<Latency> {
    const double needed = packed(row.constants, bytes);
    if (const auto own = of_workload.find(row.workload.text); own != of_workload.end()) return own->second.Of(needed);
    std::optional<Latency> least;
    for (auto like = of_bytes.lower_bound(bytes / kSameConstants);
         like != of_bytes.end() && like->first <= bytes * kSameConstants; ++like)
      least = std::min(least.value_or(Latency::max()), like->second.Of(needed));
    return least;
  };
  for (TimedRow& timed : timed_) {
    Measurement& row = rows_[static_cast<std::size_t>(timed.row - rows_.data())];
    const NearConstants constants = near(row.workload);
    const double far = 1 - constants.share;
    if (!(far > 0)) continue;
    const Measurement* const same = cold_of(timed);
    // Repetitions beyond those from memory lose what these lose in the middle.
    const std::optional<Latency> typical =
        same != nullptr ? PointValue(same->repetitions) - timed.time : borrowed(row, constants.bytes);
    timed.weights = same != nullptr ? WeightsFrom::kBoth : typical ? WeightsFrom::kBorrowed : WeightsFrom::kCaches;
    if (!typical) continue;
    for (std::size_t i = 0; i < row.repetitions.size(); ++i) {
      Repetition& repetition = row.repetitions[i];
      const bool is_paired = same != nullptr && i < same->repetitions.size();
      Shift(repetition, far * (is_paired ? same->repetitions[i].median - repetition.median : *typical));
      logs_[static_cast<std::size_t>(timed.logs.data() - logs_.data()) + i] = LogOf(repetition);
    }
    timed.time = PointValue(row.repetitions);
  }
}

}  // namespace infimum
