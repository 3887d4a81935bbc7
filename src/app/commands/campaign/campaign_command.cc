// infimum campaign: a plan measured by many machines under a scheduler that is there already, into one store.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "infimum/measurement/plan.h"
#include "src/app/command.h"
#include "src/app/commands/campaign/campaign_folder.h"
#include "src/app/commands/campaign/campaign_part.h"
#include "src/app/commands/campaign/campaign_status.h"
#include "src/app/options.h"

namespace infimum::cli {
namespace {

struct CampaignCommand {
  std::string plan, folder, kind;
  CampaignSettings settings;
  CandidateTier tier = CandidateTier::kEngine;
  std::vector<std::string> backend_options;
  std::int64_t shard = 0;
  OutputFormat format = OutputFormat::kTable;
  ProgressLogOptions log;
};

Result<int> RunPrepare(const CampaignCommand& command) {
  CampaignSettings settings = command.settings;
  settings.tier = Name(command.tier);
  INFIMUM_ASSIGN_OR_RETURN(settings.backend_options, ParsePairs(command.backend_options, "--backend-option"));
  if (settings.kinds.empty()) settings.kinds = {kAnyKind};
  INFIMUM_ASSIGN_OR_RETURN(const Plan plan, ReadPlan(command.plan));
  const auto workloads = static_cast<std::int64_t>(PartOf(plan).entries.size());
  if (settings.shards > workloads)
    return Error{fmt::format("--shards {}: the plan has {}", settings.shards,
                             CountText(static_cast<std::size_t>(workloads), "workload"))};
  INFIMUM_ASSIGN_OR_RETURN(const Installation installation, Installation::Find());
  INFIMUM_ASSIGN_OR_RETURN(const CampaignFolder campaign,
                           CampaignFolder::Prepare(command.folder, std::move(settings), Format(plan),
                                                   installation.share() / "campaign", installation.program()));
  ProgressLog log = command.log.Make();
  log.Say(fmt::format("{}: {} in {} parts for each kind of devices; read and change what the scheduler gets, then:",
                      campaign.path().string(), CountText(static_cast<std::size_t>(workloads), "workload"),
                      campaign.settings().shards));
  std::string lines;
  for (const std::string& line : campaign.Submissions()) lines += line + "\n";
  INFIMUM_RETURN_IF_ERROR(WriteOutput("-", lines));
  return kDone;
}

// What asking again would not mend is wrong usage, so that no scheduler tries again.
Result<int> RunOnePart(const CampaignCommand& command) {
  const Result<CampaignFolder> campaign = CampaignFolder::Open(command.folder);
  if (!campaign.ok()) return UsageError(campaign.error().message);
  const CampaignSettings& settings = campaign->settings();
  if (settings.infimum != InfimumVersion())
    return UsageError(
        fmt::format("{}: prepared by infimum {}, this is {}: versions measure differently; use the one, or "
                    "prepare a campaign with the other",
                    command.folder, settings.infimum, InfimumVersion()));
  const std::string kind = command.kind.empty() ? settings.kinds.front() : command.kind;
  if (std::ranges::find(settings.kinds, kind) == settings.kinds.end())
    return UsageError(fmt::format("--kind {}: the campaign has {}", Quoted(kind), Join(settings.kinds, ", ")));
  if (command.shard < 0 || command.shard >= settings.shards)
    return UsageError(fmt::format("--shard {}: the campaign has parts 0 to {}", command.shard, settings.shards - 1));
  ProgressLog log = command.log.Make();
  INFIMUM_ASSIGN_OR_RETURN(const Installation installation, Installation::Find());
  INFIMUM_RETURN_IF_ERROR(MeasurePart(*campaign, kind, command.shard, installation, log));
  return kDone;
}

Result<int> RunStatus(const CampaignCommand& command) {
  INFIMUM_ASSIGN_OR_RETURN(const CampaignFolder campaign, CampaignFolder::Open(command.folder));
  const CampaignStatus status = ReadStatus(campaign);
  INFIMUM_RETURN_IF_ERROR(WriteAnswer(command.format, "-",
                                      {.table = [&] { return StatusTable(status, campaign, TerminalWidth()); },
                                       .json = [&] { return StatusJson(status); },
                                       .csv = [&] { return StatusCsv(status); }}));
  return kDone;
}

}  // namespace

void AddCampaignCommand(CLI::App& app, Invocation& invocation) {
  CLI::App* campaign = NewCommand(
      app, "campaign", "a plan over many machines: prepare, run, status",
      "For a cluster with Slurm or Kubernetes, whose scheduler starts the parts; their rows go into one store.",
      "infimum campaign prepare all.plan --kind h100,l40s --db postgresql://me@db.example.org/infimum -o nightly");
  campaign->require_subcommand(1);
  const auto add = [&](const char* name, const char* what, const char* details, const std::string& example,
                       Result<int> (*run)(const CampaignCommand&)) {
    auto options = std::make_shared<CampaignCommand>();
    CLI::App* command = NewCommand(*campaign, name, what, details, example);
    invocation.Bind(command, [options, run] { return run(*options); });
    return std::pair(command, options);
  };
  {
    const auto [command, options] =
        add("prepare", "write a campaign's folder: plan, settings, what the scheduler takes",
            "The folder is on a file system that all machines share; so is the store, as a rule a PostgreSQL database. "
            "What\nsubmits the campaign is printed, one line for each kind of devices.",
            "infimum campaign prepare all.plan --engine slurm --shards 32 --kind h100,l40s "
            "--db postgresql://me@db.example.org/infimum -o nightly",
            RunPrepare);
    CampaignSettings& settings = options->settings;
    settings.engine = "slurm";
    settings.shards = 16;
    settings.backend = "onednn";
    settings.cache = "warm,cold-weights";
    settings.database = "infimum.db";
    command->add_option("PLAN", options->plan, "a plan from `infimum plan`; - for standard input")->required();
    AddValue(command, "-o,--output", options->folder, "DIR", "the folder to make")->required();
    AddValue(command, "--engine", settings.engine, "E", "slurm or kubernetes")
        ->check(CLI::IsMember({"slurm", "kubernetes"}))
        ->capture_default_str();
    AddValue(command, "--shards", settings.shards, "N", "parts, each a task of the scheduler")
        ->check(NumberBetween(1, 100'000))
        ->capture_default_str();
    AddValue(command, "--kind", settings.kinds, "NAME",
             "kinds of devices, a comma between two, each measured whole: a feature of Slurm's nodes, a product in "
             "Kubernetes' label nvidia.com/gpu.product (default: any node)")
        ->delimiter(',');
    AddDatabase(command, settings.database);
    AddThreads(command, settings.threads);
    AddTier(command, options->tier);
    AddValue(command, "--cache", settings.cache, "C", "what the caches hold: warm, cold, cold-weights, or several")
        ->capture_default_str();
    AddBackend(command, settings.backend, options->backend_options);
    AddProgressLog(command, options->log);
  }
  {
    const auto [command, options] =
        add("run", "measure one part and import it: what the scheduler's tasks do",
            "Continues where an earlier try stopped. One part at a time is timed on a machine. Exit code 1: try again; "
            "2: trying\nagain does not help (the plan was edited, another version of infimum).",
            "infimum campaign run nightly --kind h100 --shard 3", RunOnePart);
    command->add_option("DIR", options->folder, "the campaign's folder")->required();
    AddValue(command, "--shard", options->shard, "I", "the part, from 0")->required();
    AddValue(command, "--kind", options->kind, "NAME", "the kind of this machine's device (default: the first)");
    AddProgressLog(command, options->log);
  }
  {
    const auto [command, options] =
        add("status", "what a campaign has: parts, rows, failures, hosts",
            "Read from the folder alone, at any moment; what is not done is listed with its part.",
            "infimum campaign status nightly", RunStatus);
    command->add_option("DIR", options->folder, "the campaign's folder")->required();
    AddFormat(command, options->format);
  }
}

}  // namespace infimum::cli
