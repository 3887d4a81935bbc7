#include "infimum/microbench/runner_main.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <utility>

#include "infimum/base/process.h"
#include "infimum/base/quantity_text.h"
#include "microbench/harness/journal/journal_file.h"
#include "microbench/harness/sampling/replay_trial.h"
#include "microbench/harness/supervisor/campaign_summary.h"
#include "microbench/harness/supervisor/environment.h"
#include "microbench/harness/supervisor/progress.h"
#include "microbench/harness/supervisor/replay_session.h"
#include "microbench/harness/supervisor/run_campaign.h"
#include "microbench/harness/supervisor/runner_options.h"
#include "microbench/harness/supervisor/worker_process.h"
#include "microbench/harness/worker/worker_main.h"
#include "src/core/results/candidate_list.h"

namespace infimum {
namespace {

// A signal handler may do little: it sets a flag and wakes the poll on the pipe.
volatile std::sig_atomic_t end_wished = 0;
int wake_write_end = -1;

void WishEnd(int) {
  end_wished = 1;
  const char byte = 0;
  static_cast<void>(!write(wake_write_end, &byte, 1));
}

// The pipe's read end, readable after SIGINT, SIGTERM or SIGHUP.
int CatchSignals() {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return -1;
  wake_write_end = ends[1];
  struct sigaction action {};
  action.sa_handler = WishEnd;
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
  // A reader that went away is an error of write(2), not a signal.
  std::signal(SIGPIPE, SIG_IGN);
  return ends[0];
}

int Fail(const Error& error, int code = 1) {
  std::fprintf(stderr, "infimum: error: %s\n", error.message.c_str());
  return code;
}

// Of what a worker writes to standard error, its backend's own lines: a library that is missing, for one.
std::string WarningsIn(std::string_view text) {
  std::string warnings;
  for (const std::string_view line : Split(text, '\n'))
    if (line.starts_with("infimum: warning: ")) warnings += std::string(line) + "\n";
  return warnings;
}

class Runner {
 public:
  Runner(RunnerOptions options, std::string_view name, int interrupt_descriptor)
      : options_(std::move(options)),
        name_(name),
        interrupt_descriptor_(interrupt_descriptor),
        display_({!options_.quiet && options_.action == RunnerAction::kRun, isatty(STDERR_FILENO) == 1,
                  options_.progress_descriptor},
                 SteadyClock()) {}

  int Run() {
    if (options_.action == RunnerAction::kReplay) return Replay();
    Result<Plan> plan = ReadPlanOf(options_);
    if (!plan.ok()) return Fail(plan.error(), options_.layer ? 2 : 1);
    std::unique_ptr<ResultsOutput> output;
    if (options_.action == RunnerAction::kRun) {
      Result<std::unique_ptr<ResultsOutput>> opened = OpenOutput();
      if (!opened.ok()) return Fail(opened.error());
      output = *std::move(opened);
    }
    LeaveTheCores();
    const Result<ResultsHeader> header = Describe();
    if (!header.ok()) {
      if (output) output->Abandon();
      return end_wished != 0 ? Fail(Error{"interrupted; nothing was measured"})
                             : Fail(header.error(), CodeOf(header.error()));
    }
    WorkerProcess worker(ProcessOptions(true));
    if (options_.action != RunnerAction::kRun) return List(*plan, worker);
    return Measure(*plan, *header, worker, *output);
  }

 private:
  // Only the backend in the worker knows a wrong --backend-option; it still is wrong usage.
  int CodeOf(const Error& error) const { return error.message.starts_with(name_ + ": --backend-option") ? 2 : 1; }

  Result<std::unique_ptr<ResultsOutput>> OpenOutput() {
    if (options_.format == "google-benchmark") return OpenGoogleBenchmark(options_.output);
    INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<JournalFile> journal, JournalFile::Open(options_.output, SteadyClock()));
    return std::unique_ptr<ResultsOutput>(std::move(journal));
  }

  int Replay() {
    const auto failed = [this](const Error& error) {
      return end_wished != 0 ? Fail(Error{"interrupted"}) : Fail(error, CodeOf(error));
    };
    // An unusable schedule is reported before the first repetition.
    if (const Result<ReplaySchedule> schedule = ReadSchedule(options_.replay); !schedule.ok())
      return Fail(schedule.error());
    LeaveTheCores();
    if (const Result<ResultsHeader> device = Describe(); !device.ok()) return failed(device.error());
    WorkerProcess worker(ProcessOptions(true));
    ReplayTools tools{worker,
                      [this](std::int64_t done, std::int64_t rounds) {
                        if (options_.quiet) return;
                        std::fprintf(stderr, "infimum: replay: repetition %lld of %lld\n",
                                     static_cast<long long>(done + 1), static_cast<long long>(rounds));
                      },
                      SteadyClock()};
    ReplaySession session{options_.replay, options_.tensors, options_.results, options_.campaign.rounds,
                          options_.campaign.sampler.budget};
    session.most = options_.campaign.budget;
    if (session.most) session.design_budget = *session.most;
    const Result<ReplayResult> result = RunReplaySession(session, tools);
    if (!result.ok()) return failed(result.error());
    const Status written = WriteReplay(*result, options_.output);
    if (!written.ok()) return Fail(written.error());
    if (!options_.quiet) std::fprintf(stderr, "infimum: %s\n", DescribeReplay(*result).c_str());
    if (const std::optional<std::string> fault = result->FirstFault()) return Fail(Error{"wrong numbers: " + *fault});
    return 0;
  }

  // The supervisor keeps off the cores that are measured on, where there are others.
  void LeaveTheCores() {
    std::vector<int> others;
    const std::vector<int>& measured = options_.worker.backend.cores;
    for (const Core& core : VisibleCores())
      if (std::ranges::find(measured, core.number) == measured.end()) others.push_back(core.number);
    static_cast<void>(PinTo(others).ok());  // a courtesy, not a need
  }

  WorkerProcessOptions ProcessOptions(bool pinned) {
    WorkerProcessOptions process;
    process.setup = options_.worker;
    if (!pinned) process.setup.backend.cores.clear();
    process.name = "infimum-microbench-" + name_;
    process.interrupt_descriptor = interrupt_descriptor_;
    process.tick = [this] {
      display_.Tick();
      if (output_ != nullptr) settled_ = output_->Settle();
    };
    process.log = [this](std::string_view text) {
      const std::string said = options_.verbose ? std::string(text) : WarningsIn(text);
      if (said.empty()) return;
      display_.Clear();
      std::fwrite(said.data(), 1, said.size(), stderr);
    };
    return process;
  }

  // In a worker of its own, not pinned.
  Result<ResultsHeader> Describe() {
    WorkerProcess worker(ProcessOptions(false));
    INFIMUM_RETURN_IF_ERROR(worker.Start(0));
    const WorkerReply reply = worker.Ask(DescribeRequest{}, options_.campaign.time_limit);
    if (const auto* loss = std::get_if<WorkerLoss>(&reply))
      return Error{name_ + " could not describe this device: " + loss->reason};
    const auto& answer = std::get<WorkerAnswer>(reply);
    if (const auto* error = std::get_if<Error>(&answer)) return Within(name_, *error);
    const auto* header = std::get_if<ResultsHeader>(&answer);
    if (header == nullptr) return Error{name_ + " could not describe this device: unexpected answer from the worker"};
    ResultsHeader complete = *header;
    CompleteEnvironment(complete.environment, options_.worker.backend.threads, options_.affinity, usable_cores_);
    return complete;
  }

  int Measure(const Plan& plan, const ResultsHeader& header, Worker& worker, ResultsOutput& output) {
    Result<EarlierResults> earlier = output.Begin(header);
    if (!earlier.ok()) return Fail(earlier.error());
    output_ = &output;
    CampaignTools tools{.worker = worker, .output = output, .clock = SteadyClock(), .utc_now = UtcTimestamp};
    tools.interrupted = [] { return end_wished != 0; };
    tools.progress = [this](const CampaignProgress& progress) { display_.Update(progress); };
    Result<CampaignSummary> summary = RunCampaign(plan, header, *std::move(earlier), options_.campaign, tools);
    output_ = nullptr;
    display_.Clear();
    if (!summary.ok()) return Fail(summary.error());
    const Status finished = output.Finish();
    display_.End(*summary);
    if (!finished.ok()) return Fail(finished.error());
    if (!settled_.ok()) return Fail(settled_.error());
    if (summary->interrupted) {
      return Fail(Error{"interrupted; " + std::to_string(summary->rows_written) + " rows are written" +
                        (options_.output == "-" ? "" : "; the same command continues")});
    }
    if (!options_.quiet) std::fputs(FormatSummary(*summary, options_.output).c_str(), stderr);
    if (const std::int64_t stuck = summary->stuck_workers; stuck > 0)
      return Fail(Error{std::to_string(stuck) + (stuck == 1 ? " worker" : " workers") +
                        " stopped responding (a stopped process or a hung driver) and had to be killed; " +
                        std::to_string(summary->rows_written) + " rows are written"});
    const bool nothing_matched = !summary->warnings.empty() && !options_.campaign.candidates.empty() &&
                                 summary->rows_written == 0 && summary->earlier_rows == 0;
    return nothing_matched ? Fail(Error{summary->warnings.front()}) : 0;
  }

  // What --list and --dry-run print: the candidates of each workload, in the order of the campaign.
  int List(const Plan& plan, Worker& worker) {
    if (const Status started = worker.Start(0); !started.ok()) return Fail(started.error());
    std::int64_t runs = 0;
    for (const CampaignWorkload& workload : InOrderOfShare(plan)) {
      if (options_.list_json) {
        Result<std::vector<Candidate>> candidates = ListOne(workload, worker);
        if (end_wished != 0) return Fail(Error{"interrupted"});
        std::printf("%s\n", FormatCandidateList(Describe(workload, std::move(candidates))).c_str());
        continue;
      }
      std::printf("%s  (%s)\n", workload.workload.text.c_str(), std::string(Name(workload.contract)).c_str());
      Result<std::vector<Candidate>> candidates = ListOne(workload, worker);
      if (end_wished != 0) return Fail(Error{"interrupted"});
      if (!candidates.ok()) {
        std::printf("  none: %s\n", candidates.error().message.c_str());
        continue;
      }
      if (candidates->empty()) std::printf("  none: %s has no candidate for it\n", name_.c_str());
      for (const Candidate& candidate : *candidates) {
        std::printf("  %s  in=%s out=%s%s\n", candidate.name().c_str(), candidate.input_layout.c_str(),
                    candidate.output_layout.c_str(), candidate.library_choice ? "  the library's choice" : "");
      }
      if (const Result<Workload> parsed = ParseWorkload(workload.workload.text); parsed.ok())
        runs += static_cast<std::int64_t>(candidates->size() * CountStatesOfRows(options_.campaign.caches, *parsed));
    }
    if (options_.action == RunnerAction::kDryRun) PrintEstimate(runs);
    return std::fflush(stdout) == 0 ? 0 : Fail(Error{"standard output: writing failed"});
  }

  CandidateList Describe(const CampaignWorkload& workload, Result<std::vector<Candidate>> candidates) const {
    CandidateList list;
    list.workload = workload.workload.text;
    list.contract = workload.contract;
    list.tier = options_.campaign.tier;
    list.library = name_;
    if (!candidates.ok()) {
      list.refusal = candidates.error().message;
      return list;
    }
    for (Candidate& candidate : *candidates) list.candidates.push_back({std::move(candidate), {}});
    if (list.candidates.empty()) list.refusal = name_ + " has no candidate for it";
    return list;
  }

  Result<std::vector<Candidate>> ListOne(const CampaignWorkload& workload, Worker& worker) {
    const WorkerReply reply =
        worker.Ask(CandidatesRequest{workload.workload.text, workload.contract, options_.campaign.tier},
                   options_.campaign.time_limit);
    if (std::holds_alternative<WorkerLoss>(reply)) INFIMUM_RETURN_IF_ERROR(worker.Start(0));
    INFIMUM_ASSIGN_OR_RETURN(std::vector<Candidate> candidates, AnswerOf<std::vector<Candidate>>(reply));
    return FilterCandidates(std::move(candidates), options_.campaign.candidates);
  }

  void PrintEstimate(std::int64_t runs) const {
    const Clock::Duration most = options_.campaign.sampler.budget * runs * options_.campaign.rounds;
    std::printf("%lld runs in each of %lld rounds, at most %s of sampling%s; results to %s\n",
                static_cast<long long>(runs), static_cast<long long>(options_.campaign.rounds),
                FormatDuration(most).c_str(),
                options_.campaign.budget ? (", cut to " + FormatDuration(*options_.campaign.budget)).c_str() : "",
                options_.output == "-" ? "standard output" : options_.output.c_str());
  }

  const std::size_t usable_cores_ = VisibleCores().size();  // before the supervisor leaves some of them
  RunnerOptions options_;
  std::string name_;
  int interrupt_descriptor_;
  ProgressDisplay display_;
  ResultsOutput* output_ = nullptr;  // while the campaign runs
  Status settled_;
};

}  // namespace

int RunnerMain(int argc, char** argv, std::string_view name, const BackendFactory& make_backend, RunnerTraits traits) {
  EnsureStandardStreams();
  if (argc == 3 && argv[1] == kWorkerFlag) return WorkerMain(argv[2], make_backend);
  if (argc == 3 && argv[1] == kMetronomeFlag) return MetronomeMain(argv[2], make_backend);
  std::variant<RunnerOptions, EarlyExit> parsed = ParseRunnerOptions(argc, argv, name, traits);
  if (const auto* early = std::get_if<EarlyExit>(&parsed)) {
    std::fputs(early->output.c_str(), early->code == 0 ? stdout : stderr);
    return early->code;
  }
  return Runner(std::get<RunnerOptions>(std::move(parsed)), name, CatchSignals()).Run();
}

}  // namespace infimum
