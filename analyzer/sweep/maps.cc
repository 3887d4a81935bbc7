#include "analyzer/sweep/maps.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace infimum {
namespace {

std::optional<std::size_t> PlaceOf(const SweepCell& cell, const SweepAxis& axis) {
  const auto field = cell.fields.find(axis.field);
  if (field == cell.fields.end()) return std::nullopt;
  const auto value = std::ranges::find(axis.values, field->second);
  return value == axis.values.end()
             ? std::nullopt
             : std::optional(static_cast<std::size_t>(std::distance(axis.values.begin(), value)));
}

// What falls into each place, by `number` of the entry; `cell_of` says where it stands.
template <class Entry>
std::vector<std::vector<const Entry*>> Gathered(std::span<const Entry> entries, const SweepAxis& x, const SweepAxis& y,
                                                const std::function<const SweepCell*(const Entry&)>& cell_of) {
  std::vector<std::vector<const Entry*>> places(x.values.size() * y.values.size());
  for (const Entry& entry : entries) {
    const SweepCell* const cell = cell_of(entry);
    if (cell == nullptr) continue;
    const std::optional<std::size_t> column = PlaceOf(*cell, x), row = PlaceOf(*cell, y);
    if (column && row) places[*row * x.values.size() + *column].push_back(&entry);
  }
  return places;
}

double MedianOf(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

using NumberOfCell = std::function<std::optional<double>(const SweepCell&)>;

SweepMap MedianMap(std::span<const SweepCell> cells, const SweepAxis& x, const SweepAxis& y,
                   const NumberOfCell& number) {
  SweepMap map{x, y, {}};
  const auto cell_of = [&](const SweepCell& cell) { return number(cell) ? &cell : nullptr; };
  for (const auto& here : Gathered<SweepCell>(cells, x, y, cell_of)) {
    MapPlace& place = map.places.emplace_back(MapPlace{here.size(), std::nullopt, "", std::nullopt});
    if (here.empty()) continue;
    std::vector<double> numbers;
    std::map<std::string, std::size_t> words;
    for (const SweepCell* cell : here) {
      numbers.push_back(*number(*cell));
      ++words[cell->facts.decided_by];
    }
    place.value = MedianOf(std::move(numbers));
    place.word = std::ranges::max_element(words, {}, [](const auto& word) { return word.second; })->first;
  }
  return map;
}

// What must be alike in two cells that are held against each other.
std::string AllBut(const SweepCell& cell, const std::string& field) {
  std::string text;
  for (const auto& [name, value] : cell.fields)
    if (name != field) text += name + '\0' + value + '\0';
  return text;
}

std::optional<double> MemoryOf(const SweepCell& cell) {
  if (cell.facts.memory) return static_cast<double>(cell.facts.memory->value);
  if (cell.facts.weights) return static_cast<double>(cell.facts.weights->value);
  return std::nullopt;
}

}  // namespace

SweepMap UtilizationMap(std::span<const SweepCell> cells, const SweepAxis& x, const SweepAxis& y) {
  return MedianMap(cells, x, y, [](const SweepCell& cell) { return cell.utilization(); });
}

SweepMap FloorMap(std::span<const SweepCell> cells, const SweepAxis& x, const SweepAxis& y) {
  return MedianMap(cells, x, y, [](const SweepCell& cell) {
    const std::optional<Latency> floor = QuantityOf(cell, SweepQuantity::kFloor);
    return floor ? std::optional(floor->count()) : std::nullopt;
  });
}

SpeedUps SpeedUpsOf(std::span<const SweepCell> cells, const std::string& field, const std::string& from,
                    const std::string& to, SweepQuantity quantity, double threshold) {
  SpeedUps result{field, from, to, quantity, {}, 1};
  std::map<std::string, std::size_t> others;
  const auto value_of = [&](const SweepCell& cell) {
    const auto found = cell.fields.find(field);
    return found == cell.fields.end() || !QuantityOf(cell, quantity) ? std::string_view() : found->second;
  };
  for (std::size_t i = 0; i < cells.size(); ++i)
    if (value_of(cells[i]) == from) others.emplace(AllBut(cells[i], field), i);
  const auto time_of = [&](const SweepCell& cell) {
    SideTime time{.latency = QuantityOf(cell, quantity), .interval = std::nullopt};
    if (quantity == SweepQuantity::kTime) time.interval = cell.between;
    return time;
  };
  double logarithms = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (value_of(cells[i]) != to) continue;
    const auto other = others.find(AllBut(cells[i], field));
    if (other == others.end()) continue;
    const std::optional<Difference> difference =
        DifferenceOf(time_of(cells[i]), time_of(cells[other->second]), threshold);
    if (!difference) continue;
    logarithms += std::log(difference->ratio);
    result.pairs.push_back({other->second, i, *difference});
  }
  if (!result.pairs.empty()) result.mean = std::exp(logarithms / static_cast<double>(result.pairs.size()));
  return result;
}

SweepMap SpeedUpMap(std::span<const SweepCell> cells, const SpeedUps& speed_ups, const SweepAxis& x,
                    const SweepAxis& y) {
  SweepMap map{x, y, {}};
  const auto cell_of = [&](const SweepPair& pair) { return &cells[pair.to]; };
  for (const auto& here : Gathered<SweepPair>(speed_ups.pairs, x, y, cell_of)) {
    MapPlace& place = map.places.emplace_back(MapPlace{here.size(), std::nullopt, "", std::nullopt});
    if (here.empty()) continue;
    double logarithms = 0;
    place.verdict = here.front()->difference.verdict;
    for (const SweepPair* pair : here) {
      logarithms += std::log(pair->difference.ratio);
      if (pair->difference.verdict != place.verdict) place.verdict = Verdict::kUndecided;
    }
    place.value = std::exp(logarithms / static_cast<double>(here.size()));
  }
  return map;
}

std::optional<MemoryFrontier> MemoryFrontierOf(std::span<const SweepCell> cells, const SweepAxis& axis) {
  MemoryFrontier frontier{axis.field, {}};
  for (const std::string& value : axis.values) frontier.rows.push_back({value, std::nullopt, std::nullopt});
  bool has_any = false;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::optional<std::size_t> place = PlaceOf(cells[i], axis);
    const std::optional<double> memory = MemoryOf(cells[i]);
    if (!place || !memory) continue;
    auto& [value, fits, does_not] = frontier.rows[*place];
    if (cells[i].state == CellState::kOk && (!fits || *memory > *MemoryOf(cells[*fits]))) fits = i;
    if (cells[i].state != CellState::kOutOfMemory) continue;
    has_any = true;
    if (!does_not || *memory < *MemoryOf(cells[*does_not])) does_not = i;
  }
  return has_any ? std::optional(std::move(frontier)) : std::nullopt;
}

}  // namespace infimum
