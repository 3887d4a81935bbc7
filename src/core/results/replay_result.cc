#include "src/core/results/replay_result.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "infimum/measurement/statistics.h"
#include "src/core/results/json_fields.h"

namespace infimum {
namespace {

constexpr std::string_view kResultSchema = "infimum.replay/1";
constexpr double kMostOfIt = 0.5;
constexpr double kLongest = 1e15;  // microseconds
constexpr double kLargest = std::numeric_limits<double>::max();

std::string ErrorText(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

// JSON has neither NaN nor infinity; both are as wrong as a number can be.
double Finite(double value) { return std::isfinite(value) ? value : kLargest; }

Result<ReplayPart> PartFrom(const Json& object) {
  ReplayPart part;
  INFIMUM_ASSIGN_OR_RETURN(part.name, TextField(object, "name"));
  INFIMUM_ASSIGN_OR_RETURN(part.candidate, TextField(object, "candidate"));
  INFIMUM_ASSIGN_OR_RETURN(part.is_reorder, TruthField(object, "reorder"));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t step, IntegerField(object, "step", 0));
  part.step = static_cast<std::size_t>(step);
  INFIMUM_ASSIGN_OR_RETURN(const double alone, NumberField(object, "alone_us", 0, kLongest));
  INFIMUM_ASSIGN_OR_RETURN(const double in_loop, NumberField(object, "in_loop_us", 0, kLongest));
  part.alone = Latency(alone);
  if (FindMember(object, "alone_cold_weights_us") != nullptr) {
    INFIMUM_ASSIGN_OR_RETURN(const double cold, NumberField(object, "alone_cold_weights_us", 0, kLongest));
    part.alone_cold_weights = Latency(cold);
  }
  if (FindMember(object, "constant_bytes") != nullptr) {
    INFIMUM_ASSIGN_OR_RETURN(part.constants.value, IntegerField(object, "constant_bytes", 0));
  }
  part.in_loop = Latency(in_loop);
  if (FindMember(object, "error") != nullptr) {
    INFIMUM_ASSIGN_OR_RETURN(part.error, NumberField(object, "error", 0, kLargest));
  }
  INFIMUM_ASSIGN_OR_RETURN(part.tolerance, NumberField(object, "tolerance", 0, kLargest));
  return part;
}

Result<ReplayOutput> OutputFrom(const Json& object) {
  ReplayOutput output;
  INFIMUM_ASSIGN_OR_RETURN(output.name, TextField(object, "name"));
  INFIMUM_ASSIGN_OR_RETURN(output.error, NumberField(object, "error", 0, kLargest));
  INFIMUM_ASSIGN_OR_RETURN(output.tolerance, NumberField(object, "tolerance", 0, kLargest));
  return output;
}

}  // namespace

Latency ReplayResult::demonstrated() const {
  std::vector<Repetition> summaries;
  for (const std::vector<Latency>& samples : repetitions) summaries.push_back(Summarize(samples));
  return PointValue(summaries);
}

Latency ReplayResult::sum_alone(CacheState cache) const {
  Latency sum{0};
  for (const ReplayPart& part : parts)
    sum += cache == CacheState::kColdWeights ? part.alone_cold_weights.value_or(part.alone) : part.alone;
  return sum;
}

Latency ReplayResult::sum_in_loop() const {
  Latency sum{0};
  for (const ReplayPart& part : parts) sum += part.in_loop;
  return sum;
}

Bytes ReplayResult::constants() const {
  Bytes sum;
  for (const ReplayPart& part : parts) sum += part.constants;
  return sum;
}

double ReplayResult::share_near() const {
  if (resident_share) return *resident_share;
  return last_level_cache.value > 0 && constants() > last_level_cache ? 0 : 1;
}

CacheState ReplayResult::cache_of_weights() const {
  return share_near() < kMostOfIt ? CacheState::kColdWeights : CacheState::kWarm;
}

Latency ReplayResult::sum_expected() const {
  const Latency warm = sum_alone(CacheState::kWarm), cold = sum_alone(CacheState::kColdWeights);
  return cold + share_near() * (warm - cold);
}

std::optional<std::string> ReplayResult::FirstFault() const {
  // Written so that NaN is a fault.
  for (const ReplayPart& part : parts) {
    if (part.error && !(*part.error <= part.tolerance)) {
      return "step " + Quoted(part.name) + " (" + part.candidate + "): error " + ErrorText(*part.error) +
             " over tolerance " + ErrorText(part.tolerance);
    }
  }
  for (const ReplayOutput& output : outputs) {
    if (!(output.error <= output.tolerance)) {
      return "output " + Quoted(output.name) + ": error " + ErrorText(output.error) + " over tolerance " +
             ErrorText(output.tolerance);
    }
  }
  if (outputs.empty()) return "no output was compared";
  return std::nullopt;
}

Result<ReplayResult> Joined(ReplayResult first, const ReplayResult& second) {
  const bool is_faster = second.demonstrated() < first.demonstrated();
  bool same = first.parts.size() == second.parts.size();
  for (std::size_t i = 0; same && i < first.parts.size(); ++i) {
    ReplayPart& part = first.parts[i];
    const ReplayPart& other = second.parts[i];
    same = part.name == other.name && part.candidate == other.candidate &&
           part.alone_cold_weights.has_value() == other.alone_cold_weights.has_value();
    if (!is_faster) continue;
    part.alone = other.alone;
    part.in_loop = other.in_loop;
    part.alone_cold_weights = other.alone_cold_weights;
  }
  if (!same) return Error{"two repetitions of a replay ran different parts"};
  if (is_faster) first.resident_share = second.resident_share;
  first.repetitions.insert(first.repetitions.end(), second.repetitions.begin(), second.repetitions.end());
  return first;
}

std::string FormatReplayResult(const ReplayResult& result) {
  Json repetitions = Json::array();
  for (const std::vector<Latency>& samples : result.repetitions) {
    Json list = Json::array();
    for (const Latency sample : samples) list.push_back(sample.count());
    repetitions.push_back({{"samples_us", std::move(list)}});
  }
  Json parts = Json::array();
  for (const ReplayPart& part : result.parts) {
    Json object = {{"name", part.name}, {"candidate", part.candidate},    {"reorder", part.is_reorder},
                   {"step", part.step}, {"alone_us", part.alone.count()}, {"in_loop_us", part.in_loop.count()}};
    if (part.alone_cold_weights) object["alone_cold_weights_us"] = part.alone_cold_weights->count();
    object["constant_bytes"] = part.constants.value;
    if (part.error) object["error"] = Finite(*part.error);
    object["tolerance"] = part.tolerance;
    parts.push_back(std::move(object));
  }
  Json outputs = Json::array();
  for (const ReplayOutput& output : result.outputs) {
    outputs.push_back({{"name", output.name}, {"error", Finite(output.error)}, {"tolerance", output.tolerance}});
  }
  Json document = {{"schema", kResultSchema},
                   {"repetitions", std::move(repetitions)},
                   {"parts", std::move(parts)},
                   {"outputs", std::move(outputs)},
                   {"weight_bytes", result.weights.value},
                   {"arena_bytes", result.arena.value},
                   {"last_level_cache_bytes", result.last_level_cache.value}};
  if (result.resident_share) document["resident_share"] = *result.resident_share;
  return DumpJson(document) + '\n';
}

Result<ReplayResult> ParseReplayResult(std::string_view text) {
  INFIMUM_ASSIGN_OR_RETURN(const Json document, ParseJson(text));
  INFIMUM_ASSIGN_OR_RETURN(const std::string schema, TextField(document, "schema"));
  if (schema != kResultSchema)
    return Error{"'schema' is " + Quoted(schema) + ", expected " + std::string(kResultSchema)};
  ReplayResult result;
  INFIMUM_ASSIGN_OR_RETURN(const Json* const repetitions, ArrayField(document, "repetitions"));
  for (const Json& repetition : *repetitions) {
    INFIMUM_ASSIGN_OR_RETURN(const Json* const samples, ArrayField(repetition, "samples_us"));
    std::vector<Latency> list;
    for (const Json& sample : *samples) {
      INFIMUM_ASSIGN_OR_RETURN(const double latency, NumberOf(sample, "samples_us", 0, kLongest));
      list.emplace_back(latency);
    }
    if (list.empty()) return Error{"a repetition has no samples"};
    result.repetitions.push_back(std::move(list));
  }
  if (result.repetitions.empty()) return Error{"there are no repetitions"};
  INFIMUM_ASSIGN_OR_RETURN(const Json* const parts, ArrayField(document, "parts"));
  for (const Json& part : *parts) {
    INFIMUM_ASSIGN_OR_RETURN(ReplayPart one, PartFrom(part));
    result.parts.push_back(std::move(one));
  }
  INFIMUM_ASSIGN_OR_RETURN(const Json* const outputs, ArrayField(document, "outputs"));
  for (const Json& output : *outputs) {
    INFIMUM_ASSIGN_OR_RETURN(ReplayOutput one, OutputFrom(output));
    result.outputs.push_back(std::move(one));
  }
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t weights, IntegerField(document, "weight_bytes", 0));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t arena, IntegerField(document, "arena_bytes", 0));
  // Results of before there were cold weights lack what follows.
  if (FindMember(document, "last_level_cache_bytes") != nullptr) {
    INFIMUM_ASSIGN_OR_RETURN(result.last_level_cache.value, IntegerField(document, "last_level_cache_bytes", 0));
  }
  if (FindMember(document, "resident_share") != nullptr) {
    INFIMUM_ASSIGN_OR_RETURN(result.resident_share, NumberField(document, "resident_share", 0, 1));
  }
  result.weights = Bytes{weights};
  result.arena = Bytes{arena};
  return result;
}

}  // namespace infimum
