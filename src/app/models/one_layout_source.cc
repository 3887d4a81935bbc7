#include "src/app/models/one_layout_source.h"

#include <algorithm>
#include <map>
#include <optional>

#include "infimum/base/text.h"
#include "infimum/graph/replay_schedule.h"
#include "infimum/layer/element_order.h"
#include "infimum/layer/workload.h"

namespace infimum {
namespace {

constexpr std::string_view kChannelsLast = "channels-last", kRowMajor = "row-major";

// In letters of that many dimensions: "acdb".
std::string LettersOf(std::string_view layout, std::size_t rank) {
  if (layout != kChannelsLast && layout != kRowMajor) return std::string(layout);
  std::string letters;
  for (std::size_t i = 0; i < rank; ++i) letters += static_cast<char>('a' + i);
  if (layout == kChannelsLast) std::rotate(letters.begin() + 1, letters.begin() + 2, letters.end());
  return letters;
}

bool HasLayout(const LayerConfig& config) {
  return std::holds_alternative<ConvolutionConfig>(config) || std::holds_alternative<PoolingConfig>(config) ||
         std::holds_alternative<ResampleConfig>(config);
}

bool HasLayout(const Workload& workload) {
  if (const auto* region = std::get_if<Region>(&workload))
    return std::ranges::any_of(region->members, [](const RegionMember& member) { return HasLayout(member.config); });
  return HasLayout(std::get<LayerConfig>(workload));
}

// The image that a workload makes, in all its dimensions: a region's element-wise member, and what it adds, see it as a
// row of elements.
std::optional<Shape> ImageOf(const Workload& workload) {
  const auto* region = std::get_if<Region>(&workload);
  if (region == nullptr) return std::nullopt;
  const auto maker = std::ranges::find_if(region->members, [](const auto& member) { return HasLayout(member.config); });
  return maker == region->members.end() ? std::nullopt : std::optional(OutputsOf(maker->config)[0].shape);
}

// `names` for `tensors` in turn; what it does not name lies as it likes.
bool AreIn(std::string_view layout, std::string_view names, const std::vector<Operand>& tensors,
           const std::optional<Shape>& image) {
  std::size_t place = 0;
  for (const std::string_view name : Split(names, ',')) {
    if (place == tensors.size()) return true;
    const Shape& shape = tensors[place++].shape;
    if (name == "any" || name == "-" || name.empty()) continue;
    const bool is_flat = shape.rank() < 3 && image && ElementCount(*image) == ElementCount(shape);
    if (shape.rank() < 3 && !is_flat) continue;
    const Shape& full = is_flat ? *image : shape;
    const std::optional<ElementOrder> wanted = ParseLayout(LettersOf(layout, full.rank()), full);
    if (!wanted) continue;
    const std::optional<ElementOrder> own = ParseLayout(name, shape);
    if (!own || *own != *wanted) return false;
  }
  return true;
}

}  // namespace

bool OneLayoutSource::IsLayout(std::string_view text) {
  if (text == kChannelsLast || text == kRowMajor) return true;
  std::size_t rank = 0;
  for (const char c : text) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'), is_digit = c >= '0' && c <= '9';
    if (!is_letter && !is_digit) return false;
    if (is_letter) rank = std::max(rank, static_cast<std::size_t>((c | 0x20) - 'a') + 1);
  }
  if (rank < 3 || rank > 6) return false;
  // Some shape has it.
  return ParseLayout(text, Shape{std::vector<std::int64_t>(rank, 64)}).has_value();
}

Result<std::vector<Measurement>> OneLayoutSource::Find(std::span<const WorkloadKey> workloads,
                                                       const Selection& selection) {
  INFIMUM_ASSIGN_OR_RETURN(std::vector<Measurement> rows, source_.Find(workloads, selection));
  if (layout_.empty()) return rows;
  std::map<WorkloadKey, std::vector<Measurement>> admitted, others;
  std::map<WorkloadKey, std::optional<Workload>> known;
  for (Measurement& row : rows) {
    const auto [entry, is_new] = known.try_emplace(row.workload);
    if (is_new) {
      if (Result<Workload> workload = ParseWorkload(row.workload.text); workload.ok() && HasLayout(*workload))
        entry->second = *std::move(workload);
    }
    const std::optional<Workload>& workload = entry->second;
    const std::optional<Shape> image = workload ? ImageOf(*workload) : std::nullopt;
    const bool is_admitted = !workload || (AreIn(layout_, row.candidate.input_layout, OperandsOf(*workload), image) &&
                                           AreIn(layout_, row.candidate.output_layout, OutputsOf(*workload), image));
    const bool counts = is_admitted && row.outcome == Outcome::kMeasured;
    (counts ? admitted : others)[row.workload].push_back(std::move(row));
  }
  std::vector<Measurement> result;
  for (auto& [key, workload] : known) {
    const auto found = admitted.find(key);
    for (Measurement& row : found != admitted.end() ? found->second : others[key]) result.push_back(std::move(row));
  }
  return result;
}

}  // namespace infimum
