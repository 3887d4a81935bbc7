#include "microbench/harness/worker/worker_message.h"

#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "infimum/base/text.h"

namespace infimum {
namespace {

using nlohmann::json;

json ToJson(const Candidate& candidate) {
  return {{"library", candidate.library},
          {"algorithm", candidate.algorithm},
          {"input_layout", candidate.input_layout},
          {"output_layout", candidate.output_layout},
          {"library_choice", candidate.library_choice}};
}

Candidate CandidateFrom(const json& object) {
  Candidate candidate;
  object.at("library").get_to(candidate.library);
  object.at("algorithm").get_to(candidate.algorithm);
  object.at("input_layout").get_to(candidate.input_layout);
  object.at("output_layout").get_to(candidate.output_layout);
  object.at("library_choice").get_to(candidate.library_choice);
  return candidate;
}

json ToJson(const SamplerOptions& options) {
  json object = {{"budget_ns", options.budget.count()},
                 {"warm_up_ns", options.warm_up.count()},
                 {"warm_up_launches", options.warm_up_launches},
                 {"sample_length_ns", options.sample_length.count()},
                 {"interval", options.interval},
                 {"least_samples", options.least_samples},
                 {"most_samples", options.most_samples},
                 {"quick_samples", options.quick_samples}};
  if (options.give_up_above) object["give_up_above_us"] = options.give_up_above->count();
  return object;
}

std::optional<Latency> OptionalLatency(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return std::nullopt;
  return Latency(found->get<double>());
}

SamplerOptions SamplerOptionsFrom(const json& object) {
  SamplerOptions options;
  options.budget = Clock::Duration(object.at("budget_ns").get<Clock::Duration::rep>());
  options.warm_up = Clock::Duration(object.at("warm_up_ns").get<Clock::Duration::rep>());
  object.at("warm_up_launches").get_to(options.warm_up_launches);
  options.sample_length = Clock::Duration(object.at("sample_length_ns").get<Clock::Duration::rep>());
  object.at("interval").get_to(options.interval);
  object.at("least_samples").get_to(options.least_samples);
  object.at("most_samples").get_to(options.most_samples);
  object.at("quick_samples").get_to(options.quick_samples);
  options.give_up_above = OptionalLatency(object, "give_up_above_us");
  return options;
}

json ToJson(const Trial& trial) {
  json object = {{"outcome", Name(trial.outcome)},
                 {"reason", trial.reason},
                 {"flags", trial.flags},
                 {"sampling_ns", trial.sampling.count()}};
  // JSON has no NaN; as text it comes back as what it was.
  if (trial.numeric_error) object["numeric_error"] = std::to_string(*trial.numeric_error);
  if (trial.numeric_error && *trial.numeric_error == *trial.numeric_error)
    object["numeric_error"] = *trial.numeric_error;
  if (trial.repetition) {
    std::vector<double> samples;
    for (Latency sample : trial.repetition->samples) samples.push_back(sample.count());
    object["repetition"] = {{"count", trial.repetition->count},
                            {"minimum_us", trial.repetition->minimum.count()},
                            {"median_us", trial.repetition->median.count()},
                            {"p95_us", trial.repetition->p95.count()},
                            {"samples_us", std::move(samples)}};
    if (const auto& clocks = trial.repetition->clocks)
      object["repetition"]["clock_mhz"] = {clocks->low_mhz, clocks->high_mhz};
  }
  return object;
}

Trial TrialFrom(const json& object) {
  Trial trial;
  const std::optional<Outcome> outcome = FindOutcome(object.at("outcome").get_ref<const std::string&>());
  if (!outcome) throw std::invalid_argument("unknown outcome");
  trial.outcome = *outcome;
  object.at("reason").get_to(trial.reason);
  object.at("flags").get_to(trial.flags);
  trial.sampling = Clock::Duration(object.at("sampling_ns").get<Clock::Duration::rep>());
  if (const auto error = object.find("numeric_error"); error != object.end())
    trial.numeric_error = error->is_number() ? error->get<double>() : std::numeric_limits<double>::quiet_NaN();
  if (const auto found = object.find("repetition"); found != object.end()) {
    Repetition repetition;
    found->at("count").get_to(repetition.count);
    repetition.minimum = Latency(found->at("minimum_us").get<double>());
    repetition.median = Latency(found->at("median_us").get<double>());
    repetition.p95 = Latency(found->at("p95_us").get<double>());
    for (const json& sample : found->at("samples_us")) repetition.samples.emplace_back(sample.get<double>());
    if (const auto clocks = found->find("clock_mhz"); clocks != found->end())
      repetition.clocks = ClockRange{clocks->at(0).get<double>(), clocks->at(1).get<double>()};
    trial.repetition = std::move(repetition);
  }
  return trial;
}

// Text from libraries may be no UTF-8: replaced rather than refused.
std::string Dump(const json& object) { return object.dump(-1, ' ', false, json::error_handler_t::replace); }

template <class T, class Finder>
T FindOrThrow(const json& object, const char* name, Finder find) {
  const std::optional<T> found = find(object.at(name).get_ref<const std::string&>());
  if (!found) throw std::invalid_argument(std::string("unknown ") + name);
  return *found;
}

// Journal lines inside an answer: header and peaks have one text form, the journal's.
Result<WorkerAnswer> AnswerFromRecords(const json& lines) {
  std::string text;
  for (const json& line : lines) text += line.get_ref<const std::string&>() + '\n';
  std::istringstream input(text);
  std::optional<ResultsHeader> header;
  std::vector<PeakRate> peaks;
  INFIMUM_RETURN_IF_ERROR(ReadJournal(input, "worker", [&](ResultsRecord record) -> Status {
    if (auto* found = std::get_if<ResultsHeader>(&record)) header = std::move(*found);
    if (auto* peak = std::get_if<PeakRate>(&record)) peaks.push_back(std::move(*peak));
    return {};
  }));
  if (peaks.empty() && header) return WorkerAnswer(*std::move(header));
  return WorkerAnswer(std::move(peaks));
}

struct RequestToJson {
  json operator()(const DescribeRequest&) const { return {{"do", "describe"}}; }
  json operator()(const PeakProbesRequest&) const { return {{"do", "probes"}}; }
  json operator()(const PeaksRequest& request) const { return {{"do", "peaks"}, {"probe", request.probe}}; }
  json operator()(const CandidatesRequest& request) const {
    return {{"do", "candidates"},
            {"workload", request.workload},
            {"contract", Name(request.contract)},
            {"tier", Name(request.tier)}};
  }
  json operator()(const TrialRequest& request) const {
    json object = {{"do", "trial"},
                   {"workload", request.workload},
                   {"candidate", ToJson(request.candidate)},
                   {"contract", Name(request.contract)},
                   {"cache", Name(request.cache)},
                   {"check_numbers", request.check_numbers},
                   {"sampler", ToJson(request.sampler)}};
    if (request.skip_above) object["skip_above_us"] = request.skip_above->count();
    if (request.best) object["best_us"] = request.best->count();
    return object;
  }
  json operator()(const ReplayRequest& request) const {
    return {{"do", "replay"},
            {"schedule", request.schedule},
            {"tensors", request.tensors},
            {"results", request.results},
            {"check_numbers", request.check_numbers},
            {"budget_ns", request.budget.count()}};
  }
};

struct AnswerToJson {
  json operator()(const ResultsHeader& header) const { return {{"records", {FormatRecord(header)}}}; }
  json operator()(const std::vector<std::string>& probes) const { return {{"probes", probes}}; }
  json operator()(const std::vector<PeakRate>& peaks) const {
    // Peaks refer to a header before them, as every row of a journal does.
    json lines = json::array({FormatRecord(ResultsHeader{})});
    for (const PeakRate& peak : peaks) lines.push_back(FormatRecord(peak));
    return {{"peaks", std::move(lines)}};
  }
  json operator()(const std::vector<Candidate>& candidates) const {
    json list = json::array();
    for (const Candidate& candidate : candidates) list.push_back(ToJson(candidate));
    return {{"candidates", std::move(list)}};
  }
  json operator()(const Trial& trial) const { return {{"trial", ToJson(trial)}}; }
  json operator()(const ReplayResult& result) const { return {{"replay", FormatReplayResult(result)}}; }
  json operator()(const Error& error) const { return {{"error", error.message}}; }
};

WorkerRequest RequestFrom(const json& object) {
  const std::string verb = object.at("do").get<std::string>();
  if (verb == "describe") return DescribeRequest{};
  if (verb == "probes") return PeakProbesRequest{};
  if (verb == "peaks") return PeaksRequest{object.at("probe").get<std::string>()};
  if (verb == "replay") {
    return ReplayRequest{object.at("schedule").get<std::string>(), object.at("tensors").get<std::string>(),
                         object.at("results").get<std::vector<std::string>>(), object.at("check_numbers").get<bool>(),
                         Clock::Duration(object.at("budget_ns").get<Clock::Duration::rep>())};
  }
  const auto contract = FindOrThrow<NumericContract>(object, "contract", FindContract);
  if (verb == "candidates") {
    return CandidatesRequest{object.at("workload").get<std::string>(), contract,
                             FindOrThrow<CandidateTier>(object, "tier", FindTier)};
  }
  if (verb != "trial") throw std::invalid_argument("unknown request");
  TrialRequest request;
  object.at("workload").get_to(request.workload);
  request.candidate = CandidateFrom(object.at("candidate"));
  request.contract = contract;
  request.cache = FindOrThrow<CacheState>(object, "cache", FindCacheState);
  object.at("check_numbers").get_to(request.check_numbers);
  request.sampler = SamplerOptionsFrom(object.at("sampler"));
  request.skip_above = OptionalLatency(object, "skip_above_us");
  request.best = OptionalLatency(object, "best_us");
  return request;
}

}  // namespace

std::string FormatRequest(const WorkerRequest& request) { return Dump(std::visit(RequestToJson{}, request)); }

std::string FormatAnswer(const WorkerAnswer& answer) { return Dump(std::visit(AnswerToJson{}, answer)); }

Result<WorkerRequest> ParseRequest(std::string_view line) {
  try {
    return RequestFrom(json::parse(line));
  } catch (const std::exception& exception) {
    return Error{"no request to a worker: " + Quoted(exception.what())};
  }
}

Result<WorkerAnswer> ParseAnswer(std::string_view line) {
  try {
    const json object = json::parse(line);
    if (object.contains("error")) return WorkerAnswer(Error{object["error"].get<std::string>()});
    if (object.contains("trial")) return WorkerAnswer(TrialFrom(object["trial"]));
    if (object.contains("replay")) {
      INFIMUM_ASSIGN_OR_RETURN(ReplayResult result, ParseReplayResult(object["replay"].get_ref<const std::string&>()));
      return WorkerAnswer(std::move(result));
    }
    if (object.contains("records")) return AnswerFromRecords(object["records"]);
    if (object.contains("probes")) return WorkerAnswer(object["probes"].get<std::vector<std::string>>());
    if (object.contains("peaks")) {
      INFIMUM_ASSIGN_OR_RETURN(WorkerAnswer answer, AnswerFromRecords(object["peaks"]));
      // A backend without peaks sends the header alone.
      if (std::holds_alternative<ResultsHeader>(answer)) return WorkerAnswer(std::vector<PeakRate>{});
      return answer;
    }
    std::vector<Candidate> candidates;
    for (const json& candidate : object.at("candidates")) candidates.push_back(CandidateFrom(candidate));
    return WorkerAnswer(std::move(candidates));
  } catch (const std::exception& exception) {
    return Error{"no answer of a worker: " + Quoted(exception.what())};
  }
}

}  // namespace infimum
