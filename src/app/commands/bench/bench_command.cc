// infimum bench PLAN, or bench --layer TEXT [--candidate NAME]: measure now, keep in the store, show.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "infimum/db/store.h"
#include "infimum/measurement/plan.h"
#include "reports/text/csv.h"
#include "reports/text/fact_text.h"
#include "reports/text/section.h"
#include "src/app/command.h"
#include "src/app/commands/analyze/analysis.h"
#include "src/app/commands/bench/emitted_run.h"
#include "src/app/commands/plan/plan_argument.h"
#include "src/app/options.h"
#include "src/app/processes/interrupt.h"
#include "src/app/runners/campaign.h"

namespace infimum::cli {
namespace {

struct BenchOptions {
  PlanArgument plan;
  std::string database = "infimum.db";
  CampaignOptions campaign;
  std::vector<std::string> backend_options;
  std::optional<NumericContract> contract;
  Shard shard;
  std::string emitted;  // a folder for emitted programs, which run behind the runner; empty: none
  OutputFormat format = OutputFormat::kTable;
  ProgressLogOptions log;
};

// Programs that `emit` has for what a backend's runner measures.
std::vector<std::string> EmittedLibraries(const std::string& backend) {
  if (backend == "cuda") return {"cudnn", "cublaslt"};
  if (backend == "onednn") return {"onednn"};
  return {};
}

bool AreOfOneCandidate(const Measurement& a, const Measurement& b) {
  return a.workload == b.workload && a.contract == b.contract && a.cache == b.cache &&
         a.candidate.name() == b.candidate.name() && a.candidate.input_layout == b.candidate.input_layout;
}

// The emitted program's row of the same candidate; null where it has none, or no time.
const Measurement* EmittedAs(const Measurement& row, const std::vector<Measurement>& emitted) {
  const auto same =
      std::ranges::find_if(emitted, [&](const Measurement& other) { return AreOfOneCandidate(row, other); });
  return same == emitted.end() || same->repetitions.empty() ? nullptr : &*same;
}

// By the fastest repetition of each, where both measured the row's candidate.
std::optional<double> EmittedRatio(const Measurement& row, const std::vector<Measurement>& emitted) {
  const Measurement* const same = EmittedAs(row, emitted);
  if (same == nullptr || row.repetitions.empty()) return std::nullopt;
  return BestSeen(same->repetitions) / BestSeen(row.repetitions);
}

// `emitted`: rows of emitted programs, where there are any.
Section MakeTable(const Plan& plan, const std::vector<Measurement>& rows, const std::vector<Measurement>* emitted) {
  Section table{.columns = {NameColumn("workload"), "candidate", "cache", "outcome", NumberColumn("latency us"),
                            NumberColumn("processes"), NameColumn("note")}};
  if (emitted != nullptr)
    table.columns.insert(table.columns.begin() + 5, {NumberColumn("emitted us"), NumberColumn("emitted / runner")});
  for (const PlanEntry& entry : plan.entries) {
    const WorkloadKey key = KeyOf(entry.workload);
    std::vector<const Measurement*> own;
    for (const Measurement& row : rows) {
      if (row.workload == key && row.contract == entry.contract) own.push_back(&row);
    }
    // Fastest first, then what could not be measured.
    const auto latency = [](const Measurement* row) {
      return row->repetitions.empty() ? Latency::max() : BestSeen(row->repetitions);
    };
    std::stable_sort(own.begin(), own.end(),
                     [&](const Measurement* a, const Measurement* b) { return latency(a) < latency(b); });
    for (const Measurement* row : own) {
      const bool measured = row->outcome == Outcome::kMeasured;
      std::string note = row->reason;
      for (const std::string& flag : row->flags) note += (note.empty() ? "" : ", ") + flag;
      table.rows.push_back(
          {key.text, row->candidate.name(), std::string(Name(row->cache)), std::string(Name(row->outcome)),
           measured ? fmt::format("{:.3f}", latency(row).count()) : "", std::to_string(row->repetitions.size()), note});
      if (emitted == nullptr) continue;
      const Measurement* const same = EmittedAs(*row, *emitted);
      const std::optional<double> ratio = EmittedRatio(*row, *emitted);
      table.rows.back().insert(table.rows.back().begin() + 5,
                               {same == nullptr ? "" : fmt::format("{:.3f}", BestSeen(same->repetitions).count()),
                                ratio ? fmt::format("{:.3f}", *ratio) : ""});
    }
    if (!own.empty()) continue;
    table.rows.push_back({key.text, "", "", "not measured", "", "0", "no candidate, or the budget was spent"});
    if (emitted != nullptr) table.rows.back().insert(table.rows.back().begin() + 5, {"", ""});
  }
  return table;
}

std::string MakeJson(const std::vector<Measurement>& rows, const std::vector<Measurement>* emitted) {
  nlohmann::json list = nlohmann::json::array();
  for (const Measurement& row : rows) {
    const bool measured = row.outcome == Outcome::kMeasured && !row.repetitions.empty();
    list.push_back({{"workload", row.workload.text},
                    {"candidate", row.candidate.name()},
                    {"contract", Name(row.contract)},
                    {"cache", Name(row.cache)},
                    {"outcome", Name(row.outcome)},
                    {"reason", row.reason},
                    {"latency_us", measured ? nlohmann::json(BestSeen(row.repetitions).count()) : nlohmann::json()},
                    {"repetitions", row.repetitions.size()},
                    {"library_choice", row.candidate.library_choice},
                    {"flags", row.flags}});
    if (emitted == nullptr) continue;
    const Measurement* const same = EmittedAs(row, *emitted);
    list.back()["emitted_us"] =
        same == nullptr ? nlohmann::json() : nlohmann::json(BestSeen(same->repetitions).count());
  }
  const nlohmann::json document = {{"schema", "infimum.bench/1"}, {"rows", std::move(list)}};
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

// What `emit` has for the plan, by library; an error where it has nothing at all, or where the folder is not to be had.
Result<std::vector<std::pair<std::string, EmittedProject>>> ProjectsOf(const BenchOptions& options, const Plan& plan) {
  std::vector<std::pair<std::string, EmittedProject>> projects;
  std::optional<Error> refusal;
  for (const std::string& library : EmittedLibraries(options.campaign.backend)) {
    Result<EmittedProject> project =
        EmitProject(plan, {library, options.campaign.candidates, std::string(InfimumVersion())});
    if (project.ok()) {
      projects.emplace_back(library, *std::move(project));
    } else {
      refusal = project.error();
    }
  }
  if (projects.empty() && refusal) return *refusal;
  std::error_code error;
  const std::filesystem::path folder = options.emitted;
  const bool is_taken = std::filesystem::exists(folder, error) &&
                        (!std::filesystem::is_directory(folder, error) || !std::filesystem::is_empty(folder, error));
  if (is_taken)
    return Error{"--emitted: " + options.emitted + " exists and is no empty folder; name another, or remove it"};
  return projects;
}

// Runs them; the store gets the rows of candidates that the runner has measured, and so checked. What failed is in
// `failure`: one library's failure is none of another's.
std::vector<Measurement> BenchEmitted(const BenchOptions& options, const CampaignOptions& campaign,
                                      const Installation& installation,
                                      const std::vector<std::pair<std::string, EmittedProject>>& projects,
                                      const std::vector<Measurement>& rows, Store& store, ProgressLog& log,
                                      Status& failure) {
  std::vector<Measurement> emitted;
  const Result<RunnerDescription> here = DescribeRunner(installation, campaign);
  if (!here.ok()) {
    failure = here.error();
    return emitted;
  }
  const auto is_checked = [&](const Measurement& row) {
    return std::ranges::any_of(
        rows, [&](const Measurement& own) { return own.outcome == Outcome::kMeasured && AreOfOneCandidate(own, row); });
  };
  for (const auto& [library, project] : projects) {
    EmittedRequest request{
        library,   std::filesystem::path(options.emitted) / library, here->device.Key().text, campaign.threads, {},
        is_checked};
    // On processors a program has all that the library offers.
    if (library != "onednn") request.arguments = {"--tier", std::string(Name(campaign.tier))};
    Result<EmittedRun> run = RunEmitted(installation, project, request, store, log);
    if (run.ok()) {
      emitted.insert(emitted.end(), run->rows.begin(), run->rows.end());
    } else {
      failure = run.error();
    }
  }
  return emitted;
}

// How far emitted programs are from the runner.
void SayRatios(const std::vector<Measurement>& rows, const std::vector<Measurement>& emitted, ProgressLog& log) {
  std::vector<double> ratios;
  for (const Measurement& row : rows)
    if (const std::optional<double> ratio = EmittedRatio(row, emitted)) ratios.push_back(*ratio);
  if (ratios.empty()) return log.Say("the runner and the emitted programs measured no candidate in common");
  std::ranges::sort(ratios);
  log.Say(fmt::format("emitted / runner: {:.3f} in the median of {}, {:.3f} to {:.3f}", ratios[ratios.size() / 2],
                      CountText(ratios.size(), "candidate"), ratios.front(), ratios.back()));
}

Result<int> RunBench(const BenchOptions& options) {
  if (!options.emitted.empty() && EmittedLibraries(options.campaign.backend).empty())
    return UsageError("--emitted: no sources are emitted for the backend " + Quoted(options.campaign.backend));
  if (!options.emitted.empty() && options.campaign.cache != CacheState::kWarm)
    return UsageError("--emitted: emitted programs time warm caches alone; leave --cache out");
  INFIMUM_ASSIGN_OR_RETURN(Plan plan, options.plan.Read(options.contract));
  plan = PartOf(plan, options.shard);
  CampaignOptions campaign = options.campaign;
  INFIMUM_ASSIGN_OR_RETURN(campaign.backend_options, ParsePairs(options.backend_options, "--backend-option"));

  std::vector<std::pair<std::string, EmittedProject>> projects;
  if (!options.emitted.empty()) {
    INFIMUM_ASSIGN_OR_RETURN(projects, ProjectsOf(options, plan));
  }
  ProgressLog log = options.log.Make();
  INFIMUM_ASSIGN_OR_RETURN(const Installation installation, Installation::Find());
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, OpenStore(options.database, OpenMode::kReadWrite));
  campaign.origin = {fmt::format("bench {} {}", UtcNow(), getpid()), "infimum bench"};
  campaign.hand_back = true;
  const InterruptHold hold;  // what it found by then is shown
  INFIMUM_ASSIGN_OR_RETURN(const CampaignEnd end, RunCampaign(installation, plan, campaign, *store, log));
  if (end.budget_spent) log.Say("the budget is spent before all was measured; a larger --budget reaches the rest");

  // What this campaign found, not what the store knew before: whoever measures again wants to see it.
  std::vector<Measurement> rows = end.measured;
  std::sort(rows.begin(), rows.end(), [](const Measurement& a, const Measurement& b) {
    return std::tuple(a.workload.text, a.contract, a.candidate.name()) <
           std::tuple(b.workload.text, b.contract, b.candidate.name());
  });
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  std::optional<std::vector<Measurement>> emitted;
  Status emitted_failure;
  if (!projects.empty() && end.failure.ok() && !end.interrupted)
    emitted = BenchEmitted(options, campaign, installation, projects, rows, *store, log, emitted_failure);
  const std::vector<Measurement>* const beside = emitted ? &*emitted : nullptr;
  const Section table = MakeTable(plan, rows, beside);
  INFIMUM_RETURN_IF_ERROR(WriteAnswer(options.format, "-",
                                      {.table = [&] { return SectionTable(table, TerminalWidth()); },
                                       .json = [&] { return MakeJson(rows, beside); },
                                       .csv = [&] { return SectionCsv(table); }}));
  log.Say(fmt::format("{} rows added to {}", rows.size(), ShownAddress(options.database)));
  INFIMUM_RETURN_IF_ERROR(end.failure);
  INFIMUM_RETURN_IF_ERROR(emitted_failure);
  if (beside != nullptr) SayRatios(rows, *beside, log);
  return end.interrupted ? kFailed : kDone;
}

}  // namespace

void AddBenchCommand(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command = NewCommand(app, "bench", "measure a plan or one layer and store the rows",
                                 "Every candidate of the backend's library becomes a row, including those that are not "
                                 "supported, failed or were skipped, with the reason.\n"
                                 "With --layer it is the reproduction command that reports print.",
                                 "infimum bench --layer 'convolution dtype=f32:f32:f32 in=1x64x56x56 out_channels=64 "
                                 "kernel=3x3 stride=1x1 dilation=1x1 "
                                 "pad=1,1,1,1 groups=1 bias=no weights=const'");
  AddPlanArgument(command, options->plan, "what is measured");
  AddList(command, "--candidate", options->campaign.candidates, "NAME",
          "only this candidate, by name; may be given again");
  AddParsed(command, "--shard", options->shard, ParseShard, "this part of the plan, from 0/N to N-1/N, for N machines")
      ->type_name("I/N");
  AddDatabase(command, options->database);
  AddThreads(command, options->campaign.threads);
  AddBudget(command, options->campaign.budget);
  AddContract(command, options->contract);
  AddTier(command, options->campaign.tier);
  options->campaign.cache = CacheState::kWarm;
  AddCache(command, options->campaign.cache, "what the caches hold");
  AddBackend(command, options->campaign.backend, options->backend_options);
  AddDeviceHere(command, options->campaign.backend);
  AddValue(
      command, "--emitted", options->emitted, "DIR",
      "also write, build and run the sources that emit has for it, in this new folder, and show both times; beyond the "
      "budget, which is the runner's");
  AddFormat(command, options->format);
  AddProgressLog(command, options->log);
  invocation.Bind(command, [options] { return RunBench(*options); });
}

}  // namespace infimum::cli
