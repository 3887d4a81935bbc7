#include "src/core/results/record_json.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <utility>

#include "infimum/base/text.h"
#include "infimum/measurement/older_identity.h"

namespace infimum {
namespace {

// 31 years: sums of such times stay far from overflow.
constexpr double kMaxMicroseconds = 1e15;
constexpr double kMaxRate = 1e30;
constexpr double kMaxMegahertz = 1e9;
constexpr double kMaxError = std::numeric_limits<double>::max();
constexpr std::string_view kSchemaPrefix = "infimum.results/";

// Reads a text field that must be one of the names which `find` knows.
template <class T>
Result<T> NamedField(const Json& json, std::string_view name, std::optional<T> (*find)(std::string_view),
                     std::span<const std::string_view> known) {
  INFIMUM_ASSIGN_OR_RETURN(const std::string text, TextField(json, name));
  if (const std::optional<T> value = find(text)) return *value;
  return Error{"'" + std::string(name) + "' has the unknown value " + Quoted(text) + DidYouMean(text, known)};
}

constexpr std::array<std::string_view, 6> kPeakKinds = {"read", "write", "copy", "arithmetic", "tf32", "launch"};

// An environment's evidence, which stood beside its libraries.
constexpr std::pair<const char*, const char*> kFactsOfVersion1[] = {{"affinity", evidence::kAffinity},
                                                                    {"clock_policy", evidence::kClocks},
                                                                    {"host", evidence::kSystem},
                                                                    {"infimum_version", evidence::kInfimum}};

std::string_view PeakKindName(PeakRate::Kind kind) { return kPeakKinds.at(static_cast<std::size_t>(kind)); }

std::optional<PeakRate::Kind> FindPeakKind(std::string_view name) {
  const auto found = std::find(kPeakKinds.begin(), kPeakKinds.end(), name);
  if (found == kPeakKinds.end()) return std::nullopt;
  return static_cast<PeakRate::Kind>(found - kPeakKinds.begin());
}

std::optional<DeviceKind> FindDeviceKind(std::string_view name) {
  if (name == "cpu") return DeviceKind::kCpu;
  if (name == "gpu") return DeviceKind::kGpu;
  return std::nullopt;
}

// "2026-11-21T10:47:44Z": times are compared as text, so all must have this one form.
bool IsUtcTime(std::string_view text) {
  constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:ddZ";
  if (text.size() != kForm.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == 'd' ? !digit : text[i] != kForm[i]) return false;
  }
  const auto number = [&](std::size_t at) { return (text[at] - '0') * 10 + (text[at + 1] - '0'); };
  return number(5) >= 1 && number(5) <= 12 && number(8) >= 1 && number(8) <= 31 && number(11) <= 23 &&
         number(14) <= 59 && number(17) <= 60;
}

bool IsName(std::string_view text) {
  return !text.empty() && std::none_of(text.begin(), text.end(), [](unsigned char c) { return std::iscntrl(c); });
}

Json ToJson(const Device& device) {
  return {{"kind", device.kind == DeviceKind::kCpu ? "cpu" : "gpu"},
          {"name", device.name},
          {"vendor", device.vendor},
          {"generation", device.generation},
          {"identity", Json(device.identity)},
          {"cores", device.cores},
          {"last_level_cache_bytes", device.last_level_cache.value},
          {"memory_bytes", device.memory.value}};
}

Result<Device> DeviceFrom(const Json& json) {
  constexpr std::array<std::string_view, 2> kKinds = {"cpu", "gpu"};
  Device device;
  INFIMUM_ASSIGN_OR_RETURN(device.kind, NamedField<DeviceKind>(json, "kind", FindDeviceKind, kKinds));
  INFIMUM_ASSIGN_OR_RETURN(device.name, TextField(json, "name"));
  INFIMUM_ASSIGN_OR_RETURN(device.vendor, TextField(json, "vendor"));
  INFIMUM_ASSIGN_OR_RETURN(device.generation, TextField(json, "generation"));
  INFIMUM_ASSIGN_OR_RETURN(device.identity, TextMapField(json, "identity"));
  INFIMUM_ASSIGN_OR_RETURN(device.cores, IntegerField(json, "cores", 1));
  INFIMUM_ASSIGN_OR_RETURN(device.last_level_cache.value, IntegerField(json, "last_level_cache_bytes", 0));
  INFIMUM_ASSIGN_OR_RETURN(device.memory.value, IntegerField(json, "memory_bytes", 0));
  return device;
}

Json ToJson(const Environment& environment) {
  return {{"libraries", Json(environment.libraries)},
          {"threads", environment.threads},
          {"evidence", Json(environment.evidence)}};
}

Result<Environment> EnvironmentFrom(const Json& json, std::int64_t version) {
  Environment environment;
  INFIMUM_ASSIGN_OR_RETURN(environment.libraries, TextMapField(json, "libraries"));
  INFIMUM_ASSIGN_OR_RETURN(environment.threads, IntegerField(json, "threads", 1));
  if (version > 1) {
    INFIMUM_ASSIGN_OR_RETURN(environment.evidence, TextMapField(json, "evidence"));
  } else {
    for (const auto& [field, fact] : kFactsOfVersion1) {
      INFIMUM_ASSIGN_OR_RETURN(environment.evidence[fact], TextField(json, field));
    }
  }
  std::erase_if(environment.evidence, [](const auto& fact) { return fact.second.empty(); });
  return environment;
}

Json ToJson(const Candidate& candidate) {
  return {{"library", candidate.library},
          {"algorithm", candidate.algorithm},
          {"input_layout", candidate.input_layout},
          {"output_layout", candidate.output_layout},
          {"library_choice", candidate.library_choice}};
}

Result<Candidate> CandidateFrom(const Json& json) {
  Candidate candidate;
  INFIMUM_ASSIGN_OR_RETURN(candidate.library, TextField(json, "library"));
  INFIMUM_ASSIGN_OR_RETURN(candidate.algorithm, TextField(json, "algorithm"));
  INFIMUM_ASSIGN_OR_RETURN(candidate.input_layout, TextField(json, "input_layout"));
  INFIMUM_ASSIGN_OR_RETURN(candidate.output_layout, TextField(json, "output_layout"));
  INFIMUM_ASSIGN_OR_RETURN(candidate.library_choice, TruthField(json, "library_choice"));
  // The name "library/algorithm" must tell both, on one line.
  if (!IsName(candidate.library) || candidate.library.find('/') != std::string::npos) {
    return Error{"'library' is " + Quoted(candidate.library) + ", expected a name without '/'"};
  }
  if (!IsName(candidate.algorithm)) {
    return Error{"'algorithm' is " + Quoted(candidate.algorithm) + ", expected a name"};
  }
  return candidate;
}

Result<Latency> LatencyField(const Json& json, std::string_view name) {
  INFIMUM_ASSIGN_OR_RETURN(const double value, NumberField(json, name, 0, kMaxMicroseconds));
  return Latency(value);
}

}  // namespace

Json ToJson(const ResultsHeader& header) {
  Json json = {
      {"device", ToJson(header.device)}, {"environment", ToJson(header.environment)}, {"backend", header.backend}};
  if (header.campaign) json["campaign"] = {{"key", header.campaign->key}, {"source", header.campaign->source}};
  return json;
}

Result<ResultsHeader> HeaderFrom(const Json& json, std::int64_t version) {
  ResultsHeader header;
  INFIMUM_ASSIGN_OR_RETURN(const Json* device, ObjectField(json, "device"));
  INFIMUM_ASSIGN_OR_RETURN(header.device, DeviceFrom(*device));
  INFIMUM_ASSIGN_OR_RETURN(const Json* environment, ObjectField(json, "environment"));
  INFIMUM_ASSIGN_OR_RETURN(header.environment, EnvironmentFrom(*environment, version));
  if (version == 1) header.device = DeviceOfToday(std::move(header.device), header.environment);
  INFIMUM_ASSIGN_OR_RETURN(header.backend, TextField(json, "backend"));
  if (FindMember(json, "campaign")) {
    INFIMUM_ASSIGN_OR_RETURN(const Json* campaign, ObjectField(json, "campaign"));
    header.campaign.emplace();
    INFIMUM_ASSIGN_OR_RETURN(header.campaign->key, TextField(*campaign, "key"));
    INFIMUM_ASSIGN_OR_RETURN(header.campaign->source, TextField(*campaign, "source"));
  }
  return header;
}

Json ToJson(const PeakRate& rate) {
  Json json = {{"kind", PeakKindName(rate.kind)}};
  if (rate.is_memory()) {
    json["working_set_bytes"] = rate.working_set.value;
    json["bytes_per_second"] = rate.per_second;
  } else if (rate.kind == PeakRate::Kind::kLaunch) {
    json["launches_per_second"] = rate.per_second;
  } else {
    if (rate.kind == PeakRate::Kind::kArithmetic) json["type"] = Name(rate.type);
    json["flops_per_second"] = rate.per_second;
  }
  json["threads"] = rate.threads;
  json["source"] = rate.source;
  return json;
}

Result<PeakRate> PeakFrom(const Json& json) {
  PeakRate rate;
  INFIMUM_ASSIGN_OR_RETURN(rate.kind, NamedField<PeakRate::Kind>(json, "kind", FindPeakKind, kPeakKinds));
  if (rate.is_memory()) {
    INFIMUM_ASSIGN_OR_RETURN(rate.working_set.value, IntegerField(json, "working_set_bytes", 0));
    INFIMUM_ASSIGN_OR_RETURN(rate.per_second, NumberField(json, "bytes_per_second", 0, kMaxRate));
  } else if (rate.kind == PeakRate::Kind::kLaunch) {
    INFIMUM_ASSIGN_OR_RETURN(rate.per_second, NumberField(json, "launches_per_second", 0, kMaxRate));
  } else {
    if (rate.kind == PeakRate::Kind::kArithmetic) {
      INFIMUM_ASSIGN_OR_RETURN(rate.type, NamedField<DataType>(json, "type", FindDataType, {}));
    }
    INFIMUM_ASSIGN_OR_RETURN(rate.per_second, NumberField(json, "flops_per_second", 0, kMaxRate));
  }
  // A time is a count divided by it.
  if (!(rate.per_second > 0)) return Error{"the rate is 0, expected a positive one"};
  INFIMUM_ASSIGN_OR_RETURN(rate.threads, IntegerField(json, "threads", 1));
  INFIMUM_ASSIGN_OR_RETURN(rate.source, TextField(json, "source"));
  return rate;
}

Json ToJson(const Repetition& repetition) {
  Json samples = Json::array();
  for (Latency sample : repetition.samples) samples.push_back(sample.count());
  Json json = {{"count", repetition.count},
               {"minimum_us", repetition.minimum.count()},
               {"median_us", repetition.median.count()},
               {"p95_us", repetition.p95.count()},
               {"samples_us", std::move(samples)}};
  if (repetition.clocks) json["clock_mhz"] = {repetition.clocks->low_mhz, repetition.clocks->high_mhz};
  return json;
}

Result<ClockRange> ClocksFrom(const Json& json) {
  INFIMUM_ASSIGN_OR_RETURN(const Json* readings, ArrayField(json, "clock_mhz"));
  if (readings->size() != 2) return Error{"'clock_mhz' is no list of the lowest and the highest reading"};
  ClockRange clocks;
  INFIMUM_ASSIGN_OR_RETURN(clocks.low_mhz, NumberOf((*readings)[0], "clock_mhz", 0, kMaxMegahertz));
  INFIMUM_ASSIGN_OR_RETURN(clocks.high_mhz, NumberOf((*readings)[1], "clock_mhz", clocks.low_mhz, kMaxMegahertz));
  return clocks;
}

Result<Repetition> RepetitionFrom(const Json& json) {
  Repetition repetition;
  INFIMUM_ASSIGN_OR_RETURN(repetition.count, IntegerField(json, "count", 1));
  INFIMUM_ASSIGN_OR_RETURN(repetition.minimum, LatencyField(json, "minimum_us"));
  INFIMUM_ASSIGN_OR_RETURN(repetition.median, LatencyField(json, "median_us"));
  INFIMUM_ASSIGN_OR_RETURN(repetition.p95, LatencyField(json, "p95_us"));
  if (repetition.minimum > repetition.median || repetition.median > repetition.p95) {
    return Error{"expected 'minimum_us' <= 'median_us' <= 'p95_us'"};
  }
  // Nothing takes no time; a bound made of it would be none.
  if (repetition.median <= Latency(0)) return Error{"'median_us' is 0, expected more"};
  INFIMUM_ASSIGN_OR_RETURN(const Json* samples, ArrayField(json, "samples_us"));
  if (samples->size() > kMaxKeptSamples || static_cast<std::int64_t>(samples->size()) > repetition.count) {
    return Error{"'samples_us' has " + std::to_string(samples->size()) + " samples, expected at most 'count' and " +
                 std::to_string(kMaxKeptSamples)};
  }
  for (const Json& sample : *samples) {
    INFIMUM_ASSIGN_OR_RETURN(const double value, NumberOf(sample, "samples_us", 0, kMaxMicroseconds));
    repetition.samples.emplace_back(value);
  }
  if (FindMember(json, "clock_mhz")) {
    INFIMUM_ASSIGN_OR_RETURN(repetition.clocks, ClocksFrom(json));
  }
  return repetition;
}

Json FactsToJson(const Measurement& row) {
  Json json = {{"workload", row.workload.text}, {"candidate", ToJson(row.candidate)}, {"contract", Name(row.contract)},
               {"cache", Name(row.cache)},      {"measured_at", row.measured_at},     {"outcome", Name(row.outcome)}};
  if (!row.reason.empty()) json["reason"] = row.reason;
  if (row.numeric_error) {
    // JSON knows no infinity, and null would say that nothing was checked.
    json["numeric_error"] = std::isfinite(*row.numeric_error) ? *row.numeric_error : kMaxError;
  }
  if (!row.flags.empty()) json["flags"] = row.flags;
  return json;
}

Result<Measurement> FactsFrom(const Json& json) {
  constexpr std::array<std::string_view, 6> kContracts = {"strict-f32", "tf32", "f16", "bf16", "int8", "fp8"};
  constexpr std::array<std::string_view, 4> kOutcomes = {"measured", "unsupported", "skipped", "failed"};
  Measurement row;
  INFIMUM_ASSIGN_OR_RETURN(const std::string text, TextField(json, "workload"));
  const Result<Workload> workload = ParseWorkload(text);
  if (!workload.ok()) return Within("workload", workload.error());
  row.workload = KeyOf(*workload);
  INFIMUM_ASSIGN_OR_RETURN(const Json* candidate, ObjectField(json, "candidate"));
  INFIMUM_ASSIGN_OR_RETURN(row.candidate, CandidateFrom(*candidate));
  INFIMUM_ASSIGN_OR_RETURN(row.contract, NamedField<NumericContract>(json, "contract", FindContract, kContracts));
  INFIMUM_ASSIGN_OR_RETURN(row.cache, NamedField<CacheState>(json, "cache", FindCacheState, CacheStateNames()));
  INFIMUM_ASSIGN_OR_RETURN(row.measured_at, TextField(json, "measured_at"));
  if (!IsUtcTime(row.measured_at)) {
    return Error{"'measured_at' is " + Quoted(row.measured_at) + ", expected a UTC time like 2026-11-21T10:47:44Z"};
  }
  INFIMUM_ASSIGN_OR_RETURN(row.outcome, NamedField<Outcome>(json, "outcome", FindOutcome, kOutcomes));
  if (FindMember(json, "reason")) {
    INFIMUM_ASSIGN_OR_RETURN(row.reason, TextField(json, "reason"));
  }
  if (FindMember(json, "numeric_error")) {
    INFIMUM_ASSIGN_OR_RETURN(row.numeric_error, NumberField(json, "numeric_error", 0, kMaxError));
  }
  if (FindMember(json, "flags")) {
    INFIMUM_ASSIGN_OR_RETURN(row.flags, TextListField(json, "flags"));
  }
  return row;
}

Status CheckRepetitions(const Measurement& row) {
  if ((row.outcome == Outcome::kMeasured) != row.repetitions.empty()) return {};
  if (row.repetitions.empty()) return Error{"measured, but without repetitions"};
  return Error{std::string(Name(row.outcome)) + ", but with repetitions"};
}

std::string SchemaName() { return std::string(kSchemaPrefix) + std::to_string(kResultsVersion); }

Result<std::int64_t> VersionOf(const Json& json) {
  INFIMUM_ASSIGN_OR_RETURN(const std::string schema, TextField(json, "schema"));
  std::optional<std::int64_t> version;
  if (schema.starts_with(kSchemaPrefix)) version = ParseInteger(schema.substr(kSchemaPrefix.size()));
  if (!version || *version < 1) {
    return Error{"the schema is " + Quoted(schema) + ", expected " + Quoted(SchemaName())};
  }
  if (*version > kResultsVersion) {
    return Error{"these results have version " + std::to_string(*version) + ", this infimum reads up to " +
                 std::to_string(kResultsVersion) + "; use a newer infimum"};
  }
  return *version;
}

}  // namespace infimum
