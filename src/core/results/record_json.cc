#include "src/core/results/record_json.h"

#include <algorithm>
#include <utility>

#include "infimum/base/text.h"
#include "infimum/measurement/older_identity.h"

namespace infimum {
namespace {

constexpr std::string_view kSchemaPrefix = "infimum.results/";

// An environment's evidence, which stood beside its libraries.
constexpr std::pair<const char*, const char*> kFactsOfVersion1[] = {{"affinity", evidence::kAffinity},
                                                                    {"clock_policy", evidence::kClocks},
                                                                    {"host", evidence::kSystem},
                                                                    {"infimum_version", evidence::kInfimum}};

// The header of version 1 in the fields of version 2.
Result<Json> InFieldsOfToday(Json header) {
  INFIMUM_RETURN_IF_ERROR(ObjectField(header, "environment"));
  Json& environment = header["environment"];
  Json evidence = Json::object();
  for (const auto& [field, fact] : kFactsOfVersion1) {
    INFIMUM_ASSIGN_OR_RETURN(evidence[fact], TextField(environment, field));
  }
  environment["evidence"] = std::move(evidence);
  return header;
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
  return !text.empty() && std::ranges::none_of(text, [](unsigned char c) { return std::iscntrl(c); });
}

// The name "library/algorithm" must tell both, on one line.
Status Check(const Candidate& candidate) {
  if (!IsName(candidate.library) || candidate.library.find('/') != std::string::npos)
    return Error{"'library' is " + Quoted(candidate.library) + ", expected a name without '/'"};
  if (!IsName(candidate.algorithm)) return Error{"'algorithm' is " + Quoted(candidate.algorithm) + ", expected a name"};
  return {};
}

}  // namespace

Status JsonForm<WorkloadKey>::Read(const std::string& text, WorkloadKey& key) {
  INFIMUM_ASSIGN_OR_RETURN(const Workload workload, ParseWorkload(text));
  key = KeyOf(workload);
  return {};
}

Status JsonForm<ClockRange>::Read(const std::vector<double>& readings, ClockRange& clocks) {
  if (readings.size() != 2 || readings[0] > readings[1]) return Error{"expected [lowest, highest]"};
  clocks = {readings[0], readings[1]};
  return {};
}

Result<ResultsHeader> HeaderFrom(const Json& json, std::int64_t version) {
  ResultsHeader header;
  if (version == 1) {
    INFIMUM_ASSIGN_OR_RETURN(const Json today, InFieldsOfToday(json));
    INFIMUM_RETURN_IF_ERROR(FromJson(today, "", header));
  } else {
    INFIMUM_RETURN_IF_ERROR(FromJson(json, "", header));
  }
  std::erase_if(header.environment.evidence, [](const auto& fact) { return fact.second.empty(); });
  if (version == 1) header.device = DeviceOfToday(std::move(header.device), header.environment);
  return header;
}

Result<PeakRate> PeakFrom(const Json& json) {
  PeakRate rate;
  INFIMUM_RETURN_IF_ERROR(FromJson(json, "", rate));
  // A time is a count divided by it.
  if (!(rate.per_second > 0)) return Error{"the rate is 0, expected a positive one"};
  return rate;
}

Result<Measurement> FactsFrom(const Json& json) {
  Measurement row;
  JsonReader reader(json);
  VisitFacts(reader, row);
  INFIMUM_RETURN_IF_ERROR(reader.status());
  if (const Status status = Check(row.candidate); !status.ok()) return Within("candidate", status.error());
  if (!IsUtcTime(row.measured_at)) {
    return Error{"'measured_at' is " + Quoted(row.measured_at) + ", expected a UTC time like 2026-11-21T10:47:44Z"};
  }
  return row;
}

Status Check(const Repetition& repetition) {
  if (repetition.minimum > repetition.median || repetition.median > repetition.p95)
    return Error{"expected 'minimum_us' <= 'median_us' <= 'p95_us'"};
  // Nothing takes no time; a bound made of it would be none.
  if (repetition.median <= Latency(0)) return Error{"'median_us' is 0, expected more"};
  const std::size_t samples = repetition.samples.size();
  if (samples > kMaxKeptSamples || static_cast<std::int64_t>(samples) > repetition.count) {
    return Error{"'samples_us' has " + std::to_string(samples) + " samples, expected at most 'count' and " +
                 std::to_string(kMaxKeptSamples)};
  }
  return {};
}

Status CheckRepetitions(const Measurement& row) {
  for (std::size_t i = 0; i < row.repetitions.size(); ++i) {
    if (const Status status = Check(row.repetitions[i]); !status.ok())
      return Within("repetitions[" + std::to_string(i) + "]", status.error());
  }
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
