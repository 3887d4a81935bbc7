#include "microbench/harness/worker/worker_message.h"

#include <span>
#include <sstream>
#include <utility>

#include "infimum/base/text.h"
#include "src/core/results/record_json.h"

namespace infimum {

static void VisitFields(auto& visit, Like<SamplerOptions> auto& options) {
  visit("budget_ns", options.budget);
  visit("warm_up_ns", options.warm_up);
  visit("warm_up_launches", options.warm_up_launches);
  visit("sample_length_ns", options.sample_length);
  visit("interval", options.interval);
  visit("least_samples", options.least_samples);
  visit("most_samples", options.most_samples);
  visit("quick_samples", options.quick_samples);
  visit("give_up_above_us", options.give_up_above);
}

// `numeric_error` is NaN where an output was; as in the journal it becomes the largest number.
static void VisitFields(auto& visit, Like<Trial> auto& trial) {
  visit("outcome", trial.outcome);
  visit("reason", trial.reason);
  visit("flags", trial.flags);
  visit("sampling_ns", trial.sampling);
  visit("numeric_error", trial.numeric_error);
  visit("constant_bytes", trial.constants, {1});
  visit("repetition", trial.repetition);
}

static void VisitFields(auto&, Like<DescribeRequest> auto&) {}

static void VisitFields(auto& visit, Like<PeakProbesRequest> auto& request) { visit("whole", request.whole); }

static void VisitFields(auto& visit, Like<PeaksRequest> auto& request) { visit("probe", request.probe); }

static void VisitFields(auto& visit, Like<CandidatesRequest> auto& request) {
  visit("workload", request.workload);
  visit("contract", request.contract);
  visit("tier", request.tier);
}

static void VisitFields(auto& visit, Like<TrialRequest> auto& request) {
  visit("workload", request.workload);
  visit("candidate", request.candidate);
  visit("contract", request.contract);
  visit("cache", request.cache);
  visit("check_numbers", request.check_numbers);
  visit("sampler", request.sampler);
  visit("skip_above_us", request.skip_above);
  visit("best_us", request.best);
}

static void VisitFields(auto& visit, Like<ReplayRequest> auto& request) {
  visit("schedule", request.schedule);
  visit("tensors", request.tensors);
  visit("results", request.results);
  visit("check_numbers", request.check_numbers);
  visit("budget_ns", request.budget);
  visit("design_budget_ns", request.design_budget);
}

namespace {

// Names of the requests, in the order of WorkerRequest.
constexpr const char* kVerbs[] = {"describe", "probes", "peaks", "candidates", "trial", "replay"};

template <std::size_t kIndex = 0>
Result<WorkerRequest> RequestFrom(const Json& object, std::string_view verb) {
  if constexpr (kIndex == std::variant_size_v<WorkerRequest>) {
    return Error{"unknown request " + Quoted(verb)};
  } else {
    if (verb != kVerbs[kIndex]) return RequestFrom<kIndex + 1>(object, verb);
    std::variant_alternative_t<kIndex, WorkerRequest> request;
    INFIMUM_RETURN_IF_ERROR(FromJson(object, "", request));
    return WorkerRequest(std::move(request));
  }
}

// Journal lines inside an answer: header and peaks have one text form, the journal's.
Result<WorkerAnswer> AnswerFromRecords(std::span<const std::string> lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
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

struct AnswerToJson {
  Json operator()(const ResultsHeader& header) const { return {{"records", {FormatRecord(header)}}}; }
  Json operator()(const std::vector<std::string>& probes) const { return {{"probes", probes}}; }
  Json operator()(const std::vector<PeakRate>& peaks) const {
    // Peaks refer to a header before them, as every row of a journal does.
    Json lines = Json::array({FormatRecord(ResultsHeader{})});
    for (const PeakRate& peak : peaks) lines.push_back(FormatRecord(peak));
    return {{"peaks", std::move(lines)}};
  }
  Json operator()(const std::vector<Candidate>& candidates) const { return {{"candidates", ToJson<Json>(candidates)}}; }
  Json operator()(const Trial& trial) const { return {{"trial", ToJson<Json>(trial)}}; }
  Json operator()(const ReplayResult& result) const { return {{"replay", FormatReplayResult(result)}}; }
  Json operator()(const Error& error) const { return {{"error", error.message}}; }
};

Result<WorkerAnswer> AnswerFrom(const Json& object) {
  if (object.contains("error")) {
    INFIMUM_ASSIGN_OR_RETURN(std::string message, TextField(object, "error"));
    return WorkerAnswer(Error{std::move(message)});
  }
  if (object.contains("replay")) {
    INFIMUM_ASSIGN_OR_RETURN(const std::string text, TextField(object, "replay"));
    INFIMUM_ASSIGN_OR_RETURN(ReplayResult result, ParseReplayResult(text));
    return WorkerAnswer(std::move(result));
  }
  const auto field = [&object]<class T>(const char* name, T /*type*/) -> Result<WorkerAnswer> {
    INFIMUM_ASSIGN_OR_RETURN(T value, FieldOf<T>(object, name));
    return WorkerAnswer(std::move(value));
  };
  if (object.contains("trial")) return field("trial", Trial());
  if (object.contains("probes")) return field("probes", std::vector<std::string>());
  if (!object.contains("records") && !object.contains("peaks")) return field("candidates", std::vector<Candidate>());
  const bool is_peaks = object.contains("peaks");
  INFIMUM_ASSIGN_OR_RETURN(const auto lines, FieldOf<std::vector<std::string>>(object, is_peaks ? "peaks" : "records"));
  INFIMUM_ASSIGN_OR_RETURN(WorkerAnswer answer, AnswerFromRecords(lines));
  // A backend without peaks sends the header alone.
  if (is_peaks && std::holds_alternative<ResultsHeader>(answer)) return WorkerAnswer(std::vector<PeakRate>{});
  return answer;
}

}  // namespace

std::string FormatRequest(const WorkerRequest& request) {
  Json object = std::visit([](const auto& asked) { return ToJson<Json>(asked); }, request);
  object["do"] = kVerbs[request.index()];
  return DumpJson(object);
}

std::string FormatAnswer(const WorkerAnswer& answer) { return DumpJson(std::visit(AnswerToJson{}, answer)); }

Result<WorkerRequest> ParseRequest(std::string_view line) {
  const auto parse = [&]() -> Result<WorkerRequest> {
    INFIMUM_ASSIGN_OR_RETURN(const Json object, ParseJson(line));
    INFIMUM_ASSIGN_OR_RETURN(const std::string verb, TextField(object, "do"));
    return RequestFrom(object, verb);
  };
  return Within("not a request to a worker", parse());
}

Result<WorkerAnswer> ParseAnswer(std::string_view line) {
  const auto parse = [&]() -> Result<WorkerAnswer> {
    INFIMUM_ASSIGN_OR_RETURN(const Json object, ParseJson(line));
    return AnswerFrom(object);
  };
  return Within("not an answer of a worker", parse());
}

}  // namespace infimum
