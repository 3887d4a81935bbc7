#include "src/synth/families.h"

#include <algorithm>

#include "infimum/base/text.h"
#include "src/synth/family_table.h"

namespace infimum::synth {
namespace {

constexpr std::string_view kTypes[] = {"f32", "f16", "bf16"};

// What every family has; before them its own.
const Parameter kBatch{.name = "batch", .what = "inputs of one inference"};
const Parameter kType{.name = "type",
                      .what = "of weights and intermediates; bf16 does not run in ONNX Runtime on CPUs",
                      .usual = 0,
                      .least = 0,
                      .most = std::size(kTypes) - 1,
                      .words = {std::begin(kTypes), std::end(kTypes)}};

const Parameter* FindParameter(const Family& family, std::string_view name) {
  const auto found = std::ranges::find(family.parameters, name, &Parameter::name);
  return found == family.parameters.end() ? nullptr : &*found;
}

Error NotAValue(const Parameter& parameter, std::string_view text) {
  std::string wanted;
  if (parameter.words.empty()) {
    wanted = "a number from " + std::to_string(parameter.least) + " to " + std::to_string(parameter.most) +
             ", or a range such as 4..64*2 or 16..64+16";
  } else {
    std::vector<std::string> words(parameter.words.begin(), parameter.words.end());
    wanted = "one of " + Join(words, ", ");
  }
  return Error{"--" + std::string(parameter.name) + ": " + Quoted(text) + " is not " + wanted};
}

Result<std::int64_t> ParseValue(const Parameter& parameter, std::string_view text) {
  if (!parameter.words.empty()) {
    const auto found = std::ranges::find(parameter.words, text);
    if (found == parameter.words.end()) return NotAValue(parameter, text);
    return static_cast<std::int64_t>(found - parameter.words.begin());
  }
  const std::optional<std::int64_t> value = ParseInteger(text);
  if (!value || *value < parameter.least || *value > parameter.most) return NotAValue(parameter, text);
  return *value;
}

// No axis has more values.
constexpr std::size_t kMostValues = 100'000;

Status AddRange(const Parameter& parameter, std::string_view text, std::vector<std::int64_t>& values) {
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) {
    INFIMUM_ASSIGN_OR_RETURN(const std::int64_t value, ParseValue(parameter, text));
    values.push_back(value);
    return {};
  }
  const std::size_t step_at = text.find_first_of("*+", dots);
  if (step_at == std::string_view::npos || !parameter.words.empty()) return NotAValue(parameter, text);
  INFIMUM_ASSIGN_OR_RETURN(std::int64_t value, ParseValue(parameter, text.substr(0, dots)));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t last, ParseValue(parameter, text.substr(dots + 2, step_at - dots - 2)));
  const std::optional<std::int64_t> step = ParseInteger(text.substr(step_at + 1));
  const bool multiplies = text[step_at] == '*';
  if (last < value || !step || *step < (multiplies ? 2 : 1) || *step > parameter.most || (multiplies && value == 0))
    return NotAValue(parameter, text);
  for (; value <= last; value = multiplies ? value * *step : value + *step) {
    if (values.size() >= kMostValues)
      return Error{"--" + std::string(parameter.name) + ": " + Quoted(text) + " has more than 100,000 values"};
    values.push_back(value);
  }
  return {};
}

}  // namespace

std::span<const Family> Families() {
  static const std::vector<Family> families = [] {
    std::vector<Family> all{FullyConnected(), Convolutional(),    Recurrent(),  Transformer(),
                            Decoder(),        MixtureOfExperts(), Recommender()};
    for (Family& family : all) {
      family.parameters.push_back(kBatch);
      family.parameters.push_back(kType);
    }
    return all;
  }();
  return families;
}

const Family* FindFamily(std::string_view name) {
  const auto found = std::ranges::find(Families(), name, &Family::name);
  return found == Families().end() ? nullptr : &*found;
}

Point DefaultsOf(const Family& family) {
  Point point;
  for (const Parameter& parameter : family.parameters) point[parameter.name] = parameter.usual;
  return point;
}

std::string TextOf(const Parameter& parameter, std::int64_t value) {
  return parameter.words.empty() ? std::to_string(value)
                                 : std::string(parameter.words[static_cast<std::size_t>(value)]);
}

std::string NameOf(const Family& family, const Point& point) {
  std::string name(family.name);
  for (const Parameter& parameter : family.parameters)
    name += "_" + std::string(parameter.name) + "-" + TextOf(parameter, point.at(parameter.name));
  return name;
}

Result<Net> MakeNet(const Family& family, const Point& point, Blocks blocks) {
  constexpr DataType kFloats[] = {DataType::kF32, DataType::kF16, DataType::kBF16};
  Net net(NameOf(family, point), kFloats[point.at("type")], blocks);
  family.build(point, net);
  INFIMUM_RETURN_IF_ERROR(net.status());
  return net;
}

Result<std::vector<std::int64_t>> ParseValues(const Parameter& parameter, std::string_view text) {
  std::vector<std::int64_t> values;
  for (const std::string_view part : Split(text, ',')) INFIMUM_RETURN_IF_ERROR(AddRange(parameter, part, values));
  std::vector<std::int64_t> sorted = values;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end())
    return Error{"--" + std::string(parameter.name) + ": " + Quoted(text) + " names a value twice"};
  return values;
}

Result<std::vector<Point>> PointsOf(const Family& family, const std::map<std::string, std::string>& values,
                                    std::size_t most) {
  for (const auto& [name, text] : values)
    if (FindParameter(family, name) == nullptr) return Error{Quoted(family.name) + " has no parameter " + Quoted(name)};
  std::vector<Point> points{DefaultsOf(family)};
  for (const Parameter& parameter : family.parameters) {
    const auto given = values.find(std::string(parameter.name));
    if (given == values.end()) continue;
    INFIMUM_ASSIGN_OR_RETURN(const std::vector<std::int64_t> axis, ParseValues(parameter, given->second));
    if (points.size() * axis.size() > most)
      return Error{"the ranges make more than " + std::to_string(most) + " models: give fewer values"};
    std::vector<Point> more;
    for (const Point& point : points) {
      for (const std::int64_t value : axis) {
        more.push_back(point);
        more.back()[parameter.name] = value;
      }
    }
    points = std::move(more);
  }
  return points;
}

}  // namespace infimum::synth
