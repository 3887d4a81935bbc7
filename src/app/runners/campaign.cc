#include "src/app/runners/campaign.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "infimum/base/text.h"
#include "infimum/results/results_journal.h"
#include "src/app/processes/child_process.h"
#include "src/app/processes/interrupt.h"
#include "src/core/results/candidate_list.h"

namespace infimum {
namespace {

constexpr std::size_t kRowsPerImport = 256;
constexpr auto kImportPause = std::chrono::milliseconds(500);

// Gathers journal lines and puts them into the store in small transactions.
class RowImporter {
 public:
  explicit RowImporter(Store& store, CampaignOrigin origin = {}, bool hand_back = false)
      : store_(store), origin_(std::move(origin)), hand_back_(hand_back) {}

  Status Take(std::string_view line) {
    std::istringstream text(std::string(line) + "\n");
    // A record needs the header that stood before it; the reader is given that header first.
    std::istringstream with_header(header_line_ + std::string(line) + "\n");
    std::istream& input = header_line_.empty() ? static_cast<std::istream&>(text) : with_header;
    bool skip_header = !header_line_.empty();
    return ReadJournal(input, "runner", [&](ResultsRecord record) -> Status {
      if (const auto* header = std::get_if<ResultsHeader>(&record)) {
        if (skip_header) {
          skip_header = false;
          return {};
        }
        INFIMUM_RETURN_IF_ERROR(Flush());
        header_ = *header;
        header_line_ = std::string(line) + "\n";
        return {};
      }
      if (auto* row = std::get_if<Measurement>(&record)) rows_.push_back(std::move(*row));
      if (auto* rate = std::get_if<PeakRate>(&record)) peaks_.push_back(std::move(*rate));
      return {};
    });
  }

  Status FlushIfDue() {
    const bool due = std::chrono::steady_clock::now() - last_flush_ >= kImportPause;
    return (due && !rows_.empty()) || rows_.size() >= kRowsPerImport ? Flush() : Status();
  }

  Status Flush() {
    last_flush_ = std::chrono::steady_clock::now();
    if (rows_.empty() && peaks_.empty()) return {};
    INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<StoreImport> import, store_.BeginImport(origin_));
    INFIMUM_RETURN_IF_ERROR(import->Add(header_->device, header_->environment, rows_, peaks_));
    INFIMUM_ASSIGN_OR_RETURN(const ImportCount count, import->Commit());
    count_ += count;
    // A row comes again whenever it got another repetition.
    if (hand_back_)
      for (const Measurement& row : rows_) latest_[RowKey(row)] = row;
    rows_.clear();
    peaks_.clear();
    return {};
  }

  const std::optional<ResultsHeader>& header() const { return header_; }
  ImportCount count() const { return count_; }
  std::vector<Measurement> TakeLatest() {
    std::vector<Measurement> rows;
    for (auto& [identity, row] : latest_) rows.push_back(std::move(row));
    return rows;
  }

 private:
  Store& store_;
  CampaignOrigin origin_;
  bool hand_back_;
  std::map<std::string, Measurement> latest_;
  std::string header_line_;
  std::optional<ResultsHeader> header_;
  std::vector<Measurement> rows_;
  std::vector<PeakRate> peaks_;
  ImportCount count_;
  std::chrono::steady_clock::time_point last_flush_ = std::chrono::steady_clock::now();
};

Result<std::vector<std::string>> RunnerArguments(const Installation& installation, const CampaignOptions& options,
                                                 const std::string& plan = "-", const std::string& journal = "-") {
  INFIMUM_ASSIGN_OR_RETURN(const std::filesystem::path runner, installation.Runner(options.backend));
  std::vector<std::string> arguments{runner.string(), plan,        "--output",
                                     journal,         "--threads", std::to_string(options.threads)};
  for (const auto& [name, value] : options.backend_options) {
    arguments.insert(arguments.end(), {"--backend-option", name + "=" + value});
  }
  return arguments;
}

// Why a runner failed: where it ended by itself, its last line of complaint.
Error RunnerError(const ProcessEnd& end, const std::string& backend) {
  if (end.given_up || end.exit_code > 128) return Error{fmt::format("the {} runner {}", backend, end.how)};
  constexpr std::string_view kErrorLead = "infimum: error: ";
  std::string last = "ended without a word";
  for (const std::string& line : end.last_errors) {
    const std::size_t at = line.find(kErrorLead);
    if (!line.starts_with("{\"event\"")) last = at == line.npos ? line : line.substr(at + kErrorLead.size());
  }
  // It may have been chosen by nobody.
  return Error{fmt::format("the {} runner failed (exit code {}): {}{}", backend, end.exit_code, last,
                           backend == "cuda" ? "; --backend onednn measures the processor, INFIMUM_GPU=off makes that "
                                               "the default"
                                             : "")};
}

// What the runner says on standard error: {"event":"progress","done":12,"total":57,"left_s":90}, at last
// {"event":"end","budget_spent":true}, meanwhile {"event":"alive"}; warnings are passed on, anything else is shown only
// when verbose.
class RunnerEvents {
 public:
  explicit RunnerEvents(ProgressLog& log) : log_(log) {}

  void Take(std::string_view line) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object() || !json.contains("event")) {
      constexpr std::string_view kWarning = "infimum: warning: ";
      return line.starts_with(kWarning) ? log_.Warn(line.substr(kWarning.size())) : log_.Detail(line);
    }
    if (json["event"] == "alive") return;
    if (json["event"] == "end") {
      budget_spent_ = json.contains("budget_spent") && json["budget_spent"] == true;
      return;
    }
    std::optional<std::chrono::seconds> left;
    if (const std::optional<double> seconds = Number(json, "left_s")) {
      left = std::chrono::seconds(static_cast<std::int64_t>(*seconds));
    }
    log_.Progress("measuring", static_cast<std::int64_t>(Number(json, "done").value_or(0)),
                  static_cast<std::int64_t>(Number(json, "total").value_or(0)), left);
  }

  bool budget_spent() const { return budget_spent_; }

 private:
  static std::optional<double> Number(const nlohmann::json& json, const char* key) {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_number()) return std::nullopt;
    return found->get<double>();
  }

  ProgressLog& log_;
  bool budget_spent_ = false;
};

}  // namespace

Result<RunnerDescription> DescribeRunner(const Installation& installation, const CampaignOptions& options) {
  ProcessRequest request;
  INFIMUM_ASSIGN_OR_RETURN(request.arguments, RunnerArguments(installation, options));
  request.arguments.push_back("--quiet");
  request.input = Format(Plan{});
  std::string journal;
  const auto take = [&](std::string_view line) -> Status {
    journal.append(line).push_back('\n');
    return {};
  };
  INFIMUM_ASSIGN_OR_RETURN(const ProcessEnd end, RunProcess(request, take));
  if (end.interrupted) return Error{"interrupted"};
  if (end.exit_code != 0) return RunnerError(end, options.backend);
  std::optional<RunnerDescription> description;
  std::istringstream text(journal);
  INFIMUM_RETURN_IF_ERROR(ReadJournal(text, options.backend + " runner", [&](ResultsRecord record) -> Status {
    if (auto* header = std::get_if<ResultsHeader>(&record)) {
      description = RunnerDescription{std::move(header->device), std::move(header->environment)};
    }
    return {};
  }));
  if (!description) return Error{fmt::format("the {} runner did not describe its device", options.backend)};
  return *std::move(description);
}

Status MeasurePeaks(const Installation& installation, const CampaignOptions& options, PeaksMeasured which, Store& store,
                    ProgressLog& log) {
  ProcessRequest request;
  INFIMUM_ASSIGN_OR_RETURN(request.arguments, RunnerArguments(installation, options));
  request.arguments.insert(request.arguments.end(), {which == PeaksMeasured::kWhole ? "--peaks" : "--first-peaks",
                                                     "--quiet", "--progress-fd", "2"});
  request.input = Format(Plan{});
  request.budget = options.budget;
  const InterruptHold hold;  // rates that were found are kept
  RowImporter importer(store);
  RunnerEvents events(log);
  INFIMUM_ASSIGN_OR_RETURN(const ProcessEnd end,
                           RunProcess(
                               request, [&](std::string_view line) { return importer.Take(line); },
                               [&](std::string_view line) { events.Take(line); }));
  INFIMUM_RETURN_IF_ERROR(importer.Flush());
  if (end.interrupted) return Error{"interrupted while the peaks were measured"};
  if (end.exit_code != 0) return RunnerError(end, options.backend);
  return {};
}

Result<CampaignEnd> RunCampaign(const Installation& installation, const Plan& plan, const CampaignOptions& options,
                                Store& store, ProgressLog& log) {
  ProcessRequest request;
  INFIMUM_ASSIGN_OR_RETURN(request.arguments, RunnerArguments(installation, options));
  request.arguments.insert(
      request.arguments.end(),
      {"--budget", fmt::format("{}s", options.budget.count()), "--tier", std::string(Name(options.tier)), "--cache",
       std::string(Name(options.cache.value_or(CacheState::kWarm))), "--quiet", "--progress-fd", "2"});
  request.arguments.insert(request.arguments.end(), {"--rounds", std::to_string(options.rounds)});
  for (const std::string& candidate : options.candidates)
    request.arguments.insert(request.arguments.end(), {"--candidate", candidate});
  request.input = Format(plan);
  request.budget = options.budget;
  request.knows_budget = true;

  const InterruptHold hold;
  RowImporter importer(store, options.origin, options.hand_back);
  RunnerEvents events(log);
  Result<ProcessEnd> end = RunProcess(
      request, [&](std::string_view line) { return importer.Take(line); },
      [&](std::string_view line) { events.Take(line); }, [&] { return importer.FlushIfDue(); });
  log.EndProgress();
  // Rows that arrived before something failed are as good as any: keep them first.
  const Status flushed = importer.Flush();
  INFIMUM_RETURN_IF_ERROR(end);
  INFIMUM_RETURN_IF_ERROR(flushed);
  CampaignEnd campaign{importer.count(), importer.TakeLatest(), end->interrupted, events.budget_spent(), {}};
  if (end->exit_code != 0 && !end->interrupted) campaign.failure = RunnerError(*end, options.backend);
  return campaign;
}

namespace {

Result<ProcessRequest> RequestOf(const Installation& installation, const CampaignOptions& options,
                                 const PlanPart& part) {
  ProcessRequest request;
  INFIMUM_ASSIGN_OR_RETURN(request.arguments,
                           RunnerArguments(installation, options, part.plan.string(), part.journal.string()));
  request.arguments.insert(request.arguments.end(),
                           {"--shard", fmt::format("{}/{}", part.shard.index, part.shard.count), "--tier", part.tier,
                            "--cache", part.cache, "--quiet"});
  return request;
}

}  // namespace

Result<std::int64_t> CountRows(const Installation& installation, const CampaignOptions& options, const PlanPart& part) {
  INFIMUM_ASSIGN_OR_RETURN(ProcessRequest request, RequestOf(installation, options, part));
  request.arguments.push_back("--list-json");
  std::vector<CacheState> states;
  for (const std::string_view name : Split(part.cache, ','))
    if (const std::optional<CacheState> state = FindCacheState(name)) states.push_back(*state);
  std::int64_t rows = 0;
  const auto take = [&](std::string_view line) -> Status {
    INFIMUM_ASSIGN_OR_RETURN(const CandidateList list, ParseCandidateList(line));
    INFIMUM_ASSIGN_OR_RETURN(const Workload workload, ParseWorkload(list.workload));
    rows += static_cast<std::int64_t>(list.candidates.size() * CountStatesOfRows(states, workload));
    return {};
  };
  INFIMUM_ASSIGN_OR_RETURN(const ProcessEnd end, RunProcess(request, take));
  if (end.interrupted) return Error{"interrupted"};
  if (end.exit_code != 0) return RunnerError(end, options.backend);
  return rows;
}

Status RunPart(const Installation& installation, const CampaignOptions& options, const PlanPart& part,
               ProgressLog& log) {
  INFIMUM_ASSIGN_OR_RETURN(ProcessRequest request, RequestOf(installation, options, part));
  request.arguments.insert(request.arguments.end(), {"--progress-fd", "2"});
  if (part.peaks) request.arguments.push_back("--peaks");
  const InterruptHold hold;
  RunnerEvents events(log);
  const Result<ProcessEnd> end = RunProcess(
      request, [](std::string_view) { return Status(); }, [&](std::string_view line) { events.Take(line); });
  log.EndProgress();
  INFIMUM_RETURN_IF_ERROR(end);
  if (end->interrupted) return Error{"interrupted; the same command continues " + part.journal.string()};
  if (end->exit_code != 0) return RunnerError(*end, options.backend);
  return {};
}

}  // namespace infimum
