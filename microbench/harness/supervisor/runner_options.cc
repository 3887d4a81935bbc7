#include "microbench/harness/supervisor/runner_options.h"

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <utility>

#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "microbench/harness/supervisor/environment.h"

namespace infimum {
namespace {

constexpr double kMemoryPart = 0.75;
constexpr int kNoDescriptor = -1;

// What CLI11 fills, as text where we want our own errors.
struct RawOptions {
  std::string plan;
  std::string layer;
  std::vector<std::string> candidates;
  std::string contract;
  std::string shard;
  std::string replay;
  std::vector<std::string> results;
  std::string tensors;
  std::string tier = "engine";
  std::string cache = "warm";
  std::string format = "jsonl";
  std::string output = "-";
  std::string budget;
  std::string candidate_budget = "200ms";
  std::string time_limit = "30s";
  std::string most_memory;
  std::string cores;
  std::vector<std::string> backend_options;
  std::int64_t threads = 1;
  std::int64_t rounds = 3;
  std::uint64_t seed = 1;
  int progress_descriptor = kNoDescriptor;
  bool peaks = false;
  bool first_peaks = false;
  bool list = false;
  bool list_json = false;
  bool dry_run = false;
  bool retry_failed = false;
  bool quiet = false;
  bool verbose = false;
};

std::string Footer(const std::string& program) {
  return "A plan comes from `infimum plan MODEL`; it is versioned text, one workload a line. Results are a\n"
         "journal, one JSON object a line, written as soon as it exists; the same command continues a journal.\n"
         "A candidate that crashes, hangs or exhausts memory affects its own row alone. Exit codes: 0 done (also\n"
         "when the budget ended it), 1 failed or interrupted, 2 wrong usage.\n\n"
         "Examples:\n"
         "  infimum plan resnet50.onnx -o resnet50.plan\n"
         "  " +
         program +
         " resnet50.plan -o results.jsonl --budget 3m\n"
         "  infimum import results.jsonl\n\n"
         "  " +
         program +
         " --layer 'pointwise kind=relu dtype=f32:-:f32 in=802816'\n"
         "  " +
         program + " --peaks -o peaks.jsonl\n";
}

void Declare(CLI::App& app, RawOptions& raw, const RunnerTraits& traits) {
  app.add_option("PLAN", raw.plan, "plan of workloads to measure; - is standard input");
  app.add_option("--layer", raw.layer, "measure this one workload, given as its text, instead of a plan");
  app.add_option("--replay", raw.replay,
                 "run a whole model by this schedule, which infimum replay writes, instead of a plan");
  app.add_option("--tensors", raw.tensors,
                 "folder with the weights, inputs and expected outputs of --replay; default: random values");
  app.add_option("--results", raw.results,
                 "journals whose fastest candidates run the steps of --replay, instead of those in the schedule");
  app.add_option("--candidate", raw.candidates, "only this candidate, by name or algorithm; may be repeated");
  app.add_option("--contract", raw.contract,
                 "numeric contract, instead of the plan's: strict-f32, tf32, f16, bf16, int8, fp8");
  app.add_option("--shard", raw.shard, "I/N: this part of the plan, from 0/N to N-1/N, for N machines");
  app.add_option("--tier", raw.tier,
                 "candidates: heuristic (the library's choice), engine (best of each "
                 "implementation) or exhaustive")
      ->capture_default_str();
  app.add_option("-o,--output", raw.output, "where results go; - is standard output. An existing journal is continued")
      ->capture_default_str();
  app.add_option("--format", raw.format, "jsonl (the journal) or google-benchmark (one document, at the end)")
      ->capture_default_str();
  app.add_option("--budget", raw.budget,
                 "stop after this time (3m, 1h30m); workloads with the largest share come first");
  app.add_option("--candidate-budget", raw.candidate_budget, "sampling time of one repetition of one candidate")
      ->capture_default_str();
  app.add_option("--time-limit", raw.time_limit, "a candidate without an answer for this long has failed")
      ->capture_default_str();
  app.add_option("--max-memory", raw.most_memory,
                 traits.has_device_memory
                     ? "a candidate that needs more of the device's memory has failed (8G); default: all free memory"
                     : "a worker that uses more has failed (8G); default: 75 % of the machine");
  app.add_option("--rounds", raw.rounds, "repetitions, each in a process of its own")->capture_default_str();
  app.add_option(
         "--cache", raw.cache,
         "warm (same buffers each time), cold (caches flushed), cold-weights (constant operands come from memory) or "
         "several of them (warm,cold-weights); both is warm,cold")
      ->capture_default_str();
  app.add_option("--threads", raw.threads, "threads of a run, each pinned to a core of its own")->capture_default_str();
  app.add_option("--cores", raw.cores,
                 "pin to these cores (0,2-5); default: the last ones, on different physical cores");
  app.add_flag("--peaks", raw.peaks, "also measure the device's peak rates; without a plan, only these");
  app.add_flag("--first-peaks", raw.first_peaks, "the same at a few working sets of the memory, in two seconds");
  app.add_flag("--list", raw.list, "list the candidates of each workload; run nothing");
  app.add_flag("--list-json", raw.list_json, "the same as JSON, one line a workload");
  app.add_flag("--dry-run", raw.dry_run, "print what would run and how long it would take; run nothing");
  app.add_flag("--retry-failed", raw.retry_failed, "measure again what failed in a continued journal");
  app.add_option("--seed", raw.seed, "seed for buffers and for the order of candidates")->capture_default_str();
  app.add_option("--backend-option", raw.backend_options, "NAME=VALUE, an option of this backend; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--progress-fd", raw.progress_descriptor,
                 "also write progress to this file descriptor, as JSON lines");
  app.add_flag("-q,--quiet", raw.quiet, "print errors only");
  app.add_flag("-v,--verbose", raw.verbose, "also print what the library writes to standard error");
}

// ", did you mean '--budget'?" for the first argument that looks like an option.
std::string UnknownOption(const CLI::App& app, const std::vector<std::string>& extras) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  const std::vector<std::string_view> known(names.begin(), names.end());
  for (const std::string& extra : extras) {
    if (!extra.starts_with('-')) continue;
    const std::string name = extra.substr(0, extra.find('='));
    const std::string hint = DidYouMean(name, known);
    return "unknown option " + Quoted(name) + (hint.empty() ? "; --help shows all" : hint);
  }
  return "expected one plan; unexpected argument " + Quoted(extras.front());
}

template <class T, class Finder>
Result<T> Choice(std::string_view option, const std::string& text, Finder find,
                 std::span<const std::string_view> known) {
  if (const std::optional<T> found = find(text)) return *found;
  std::vector<std::string> names(known.begin(), known.end());
  return Error{std::string(option) + ": " + Quoted(text) + " is not one of " + Join(names, ", ") +
               DidYouMean(text, known)};
}

Result<Clock::Duration> DurationOption(std::string_view option, const std::string& text) {
  return Within(std::string(option), ParseDuration(text));
}

Status CheckWhatToRun(const RawOptions& raw) {
  if (!raw.plan.empty() && !raw.layer.empty()) return Error{"a plan and --layer exclude each other; give one of them"};
  if (!raw.replay.empty()) {
    if (!raw.plan.empty() || !raw.layer.empty() || raw.peaks || raw.first_peaks || raw.list || raw.list_json ||
        raw.dry_run || !raw.candidates.empty())
      return Error{
          "--replay measures its schedule alone; leave out PLAN, --layer, --candidate, --peaks, --list and --dry-run"};
  } else if (!raw.tensors.empty() || !raw.results.empty()) {
    return Error{std::string(raw.tensors.empty() ? "--results" : "--tensors") + " needs --replay SCHEDULE"};
  }
  if (raw.plan.empty() && raw.layer.empty() && !raw.peaks && !raw.first_peaks && raw.replay.empty())
    return Error{"nothing to measure; give a PLAN, --layer or --peaks (--help shows examples)"};
  if ((raw.list || raw.list_json) && raw.dry_run)
    return Error{"--list and --dry-run exclude each other; give one of them"};
  if (raw.rounds < 1 || raw.rounds > 1000) return Error{"--rounds must be from 1 to 1000"};
  if (raw.threads < 1) return Error{"--threads must be 1 or more"};
  if (raw.progress_descriptor != kNoDescriptor && fcntl(raw.progress_descriptor, F_GETFD) == -1)
    return Error{"--progress-fd " + std::to_string(raw.progress_descriptor) + ": this file descriptor is not open"};
  return {};
}

Result<std::vector<CacheState>> CachesOption(const std::string& text) {
  if (text == "both") return std::vector<CacheState>{CacheState::kWarm, CacheState::kCold};
  constexpr std::string_view kKnown[] = {"warm", "cold", "cold-weights", "both"};
  std::vector<CacheState> caches;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string name = text.substr(begin, end - begin);
    INFIMUM_ASSIGN_OR_RETURN(const CacheState state, (Choice<CacheState>("--cache", name, FindCacheState, kKnown)));
    if (std::ranges::find(caches, state) == caches.end()) caches.push_back(state);
    begin = end + 1;
  }
  return caches;
}

Result<std::map<std::string, std::string>> BackendSettings(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> settings;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return Error{"--backend-option: " + Quoted(text) + " is not of the form NAME=VALUE"};
    settings[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return settings;
}

Result<RunnerOptions> Check(const RawOptions& raw, const RunnerTraits& traits) {
  INFIMUM_RETURN_IF_ERROR(CheckWhatToRun(raw));
  RunnerOptions options;
  if (raw.list || raw.list_json) options.action = RunnerAction::kList;
  options.list_json = raw.list_json;
  if (raw.dry_run) options.action = RunnerAction::kDryRun;
  if (!raw.replay.empty()) options.action = RunnerAction::kReplay;
  options.replay = raw.replay;
  options.tensors = raw.tensors;
  options.results = raw.results;
  if (!raw.plan.empty()) options.plan_path = raw.plan;
  if (!raw.layer.empty()) options.layer = raw.layer;
  options.output = raw.output;
  options.progress_descriptor = raw.progress_descriptor;
  options.quiet = raw.quiet;
  options.verbose = raw.verbose;

  constexpr std::string_view kFormats[] = {"jsonl", "google-benchmark"};
  const auto find_format = [&](std::string_view text) -> std::optional<std::string> {
    for (std::string_view format : kFormats)
      if (format == text) return std::string(format);
    return std::nullopt;
  };
  INFIMUM_ASSIGN_OR_RETURN(options.format, (Choice<std::string>("--format", raw.format, find_format, kFormats)));
  if (!raw.contract.empty()) {
    constexpr std::string_view kContracts[] = {"strict-f32", "tf32", "f16", "bf16", "int8", "fp8"};
    INFIMUM_ASSIGN_OR_RETURN(options.contract,
                             (Choice<NumericContract>("--contract", raw.contract, FindContract, kContracts)));
  }
  if (!raw.shard.empty()) {
    const Result<Shard> shard = ParseShard(raw.shard);
    if (!shard.ok()) return Within("--shard", shard.error());
    options.shard = *shard;
  }

  MeasuringOptions& campaign = options.campaign;
  constexpr std::string_view kTiers[] = {"heuristic", "engine", "exhaustive"};
  INFIMUM_ASSIGN_OR_RETURN(campaign.tier, (Choice<CandidateTier>("--tier", raw.tier, FindTier, kTiers)));
  INFIMUM_ASSIGN_OR_RETURN(campaign.caches, CachesOption(raw.cache));
  campaign.rounds = raw.rounds;
  if (!raw.budget.empty()) {
    INFIMUM_ASSIGN_OR_RETURN(campaign.budget, DurationOption("--budget", raw.budget));
  }
  INFIMUM_ASSIGN_OR_RETURN(campaign.sampler.budget, DurationOption("--candidate-budget", raw.candidate_budget));
  INFIMUM_ASSIGN_OR_RETURN(campaign.time_limit, DurationOption("--time-limit", raw.time_limit));
  campaign.seed = raw.seed;
  campaign.candidates = raw.candidates;
  if (raw.peaks || raw.first_peaks) campaign.peaks = raw.peaks ? PeakDetail::kWhole : PeakDetail::kFirst;
  campaign.retry_failed = raw.retry_failed;

  const std::vector<Core> visible = VisibleCores();
  BackendOptions& backend = options.worker.backend;
  backend.threads = raw.threads;
  backend.seed = raw.seed;
  INFIMUM_ASSIGN_OR_RETURN(backend.settings, BackendSettings(raw.backend_options));
  if (raw.cores.empty()) {
    INFIMUM_ASSIGN_OR_RETURN(backend.cores, Within("--threads", ChooseCores(visible, raw.threads)));
    // Which core it was is no part of the environment's identity: the next start may see others.
    options.affinity = "pinned";
  } else {
    Result<std::vector<int>> cores = ParseCoreList(raw.cores, visible);
    if (!cores.ok()) return Within("--cores", cores.error());
    backend.cores = *std::move(cores);
    if (static_cast<std::int64_t>(backend.cores.size()) != raw.threads)
      return Error{"--cores names " + std::to_string(backend.cores.size()) + " cores for " +
                   std::to_string(raw.threads) + " threads; the numbers must agree"};
    options.affinity = "pinned:" + FormatCoreList(backend.cores);
  }
  const double machine = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  options.worker.most_memory = Bytes{static_cast<std::int64_t>(machine * kMemoryPart)};
  options.worker.limits_address_space = !traits.has_device_memory;
  if (!raw.most_memory.empty()) {
    Result<Bytes> most = ParseByteCount(raw.most_memory);
    if (!most.ok()) return Within("--max-memory", most.error());
    if (traits.has_device_memory) {
      options.worker.backend.most_device_memory = *most;
    } else {
      options.worker.most_memory = *most;
    }
  }
  return options;
}

}  // namespace

std::variant<RunnerOptions, EarlyExit> ParseRunnerOptions(int argc, const char* const* argv, std::string_view backend,
                                                          const RunnerTraits& traits) {
  const std::string program = "infimum-microbench-" + std::string(backend);
  CLI::App app{"Measures workloads with all candidates of " + std::string(backend) +
                   ": how long each layer configuration takes here,\nwith every implementation the library offers.",
               program};
  RawOptions raw;
  Declare(app, raw, traits);
  app.set_version_flag("--version", program + " " INFIMUM_VERSION);
  app.footer(Footer(program));
  app.get_formatter()->column_width(34);
  app.allow_extras();
  const auto usage_error = [&](const std::string& message) {
    return EarlyExit{2, "infimum: error: " + message + '\n'};
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return EarlyExit{0, app.help()};
  } catch (const CLI::CallForVersion& version) {
    return EarlyExit{0, std::string(version.what()) + '\n'};
  } catch (const CLI::ParseError& error) {
    return usage_error(error.what());
  }
  if (const std::vector<std::string> extras = app.remaining(); !extras.empty())
    return usage_error(UnknownOption(app, extras));
  Result<RunnerOptions> options = Check(raw, traits);
  if (!options.ok()) return usage_error(options.error().message);
  return *std::move(options);
}

Result<Plan> ReadPlanOf(const RunnerOptions& options) {
  Plan plan;
  if (options.layer) {
    Result<Workload> workload = ParseWorkload(*options.layer);
    if (!workload.ok()) return Within("--layer", workload.error());
    PlanEntry entry{*std::move(workload)};
    entry.contract = NativeContract(entry.workload);
    entry.share = 1;
    plan.entries.push_back(std::move(entry));
  } else if (options.plan_path) {
    INFIMUM_ASSIGN_OR_RETURN(plan, ReadPlan(*options.plan_path));
  }
  if (options.contract)
    for (PlanEntry& entry : plan.entries) entry.contract = *options.contract;
  return options.shard ? PartOf(plan, *options.shard) : plan;
}

}  // namespace infimum
