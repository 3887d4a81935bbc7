// infimum bench PLAN, or bench --layer TEXT [--candidate NAME]: measure now, keep in the store, show.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "infimum/db/store.h"
#include "infimum/measurement/plan.h"
#include "reports/text/csv.h"
#include "reports/text/section.h"
#include "src/app/command.h"
#include "src/app/commands/analyze/analysis.h"
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
  OutputFormat format = OutputFormat::kTable;
  TalkOptions talk;
};

Section MakeTable(const Plan& plan, std::vector<Measurement> rows) {
  Section table{.columns = {NameColumn("workload"), "candidate", "cache", "outcome", NumberColumn("latency us"),
                            NumberColumn("processes"), NameColumn("note")}};
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
    }
    if (own.empty())
      table.rows.push_back({key.text, "", "", "not measured", "", "0", "no candidate, or the budget was spent"});
  }
  return table;
}

std::string MakeJson(const std::vector<Measurement>& rows) {
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
  }
  const nlohmann::json document = {{"schema", "infimum.bench/1"}, {"rows", std::move(list)}};
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Result<int> RunBench(const BenchOptions& options) {
  INFIMUM_ASSIGN_OR_RETURN(Plan plan, options.plan.Read(options.contract));
  plan = PartOf(plan, options.shard);
  CampaignOptions campaign = options.campaign;
  INFIMUM_ASSIGN_OR_RETURN(campaign.backend_options, ParsePairs(options.backend_options, "--backend-option"));

  Talk talk = options.talk.Make();
  INFIMUM_ASSIGN_OR_RETURN(const Installation installation, Installation::Find());
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, OpenStore(options.database, OpenMode::kReadWrite));
  campaign.origin = {fmt::format("bench {} {}", UtcNow(), getpid()), "infimum bench"};
  campaign.hand_back = true;
  const InterruptHold hold;  // what it found by then is shown
  INFIMUM_ASSIGN_OR_RETURN(const CampaignEnd end, RunCampaign(installation, plan, campaign, *store, talk));
  if (end.budget_spent) talk.Say("the budget is spent before all was measured; a larger --budget reaches the rest");

  // What this campaign found, not what the store knew before: whoever measures again wants to see it.
  std::vector<Measurement> rows = end.measured;
  std::sort(rows.begin(), rows.end(), [](const Measurement& a, const Measurement& b) {
    return std::tuple(a.workload.text, a.contract, a.candidate.name()) <
           std::tuple(b.workload.text, b.contract, b.candidate.name());
  });
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  const Section table = MakeTable(plan, rows);
  INFIMUM_RETURN_IF_ERROR(WriteAnswer(options.format, "-",
                                      {.table = [&] { return SectionTable(table, TerminalWidth()); },
                                       .json = [&] { return MakeJson(rows); },
                                       .csv = [&] { return SectionCsv(table); }}));
  talk.Say(fmt::format("{} rows added to {}", rows.size(), ShownAddress(options.database)));
  INFIMUM_RETURN_IF_ERROR(end.failure);
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
  AddFormat(command, options->format);
  AddTalk(command, options->talk);
  invocation.Bind(command, [options] { return RunBench(*options); });
}

}  // namespace infimum::cli
