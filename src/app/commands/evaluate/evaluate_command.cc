// infimum evaluate FILE: what an evaluation states, cell by cell, each measured once.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>

#include "infimum/base/clock.h"
#include "infimum/base/file_text.h"
#include "infimum/base/text.h"
#include "reports/sweep/sweep_report.h"
#include "reports/text/csv.h"
#include "reports/text/fact_text.h"
#include "reports/text/section.h"
#include "src/app/command.h"
#include "src/app/commands/analyze/analysis.h"
#include "src/app/commands/evaluate/cell_run.h"
#include "src/app/commands/evaluate/evaluation_tables.h"
#include "src/app/commands/evaluate/sweep_cells.h"
#include "src/app/options.h"
#include "src/app/processes/interrupt.h"

namespace infimum::cli {
namespace {

struct EvaluateOptions {
  std::string file;
  std::string database = "infimum.db";
  std::string part;   // "2/8"
  std::string only;   // the beginning of a cell's hash
  std::string other;  // to be held against
  bool list = false, verify = false, again = false, retry = false;
  double threshold = 0.075;  // half of the slow-down that is to be found surely
  CellRunnerOptions runner;
  std::vector<std::string> backend_options;
  OutputFormat format = OutputFormat::kTable;
  std::string output = "-";
  ProgressLogOptions log;
};

// "2/8": every eighth cell from the second on.
struct Part {
  std::size_t index = 0, of = 1;
};

Result<Part> ParsePart(const std::string& text) {
  if (text.empty()) return Part{};
  const std::vector<std::string_view> pieces = Split(text, '/');
  const auto index = ParseInteger(pieces.front()), of = ParseInteger(pieces.back());
  if (pieces.size() != 2 || !index || !of || *index < 1 || *index > *of)
    return Error{fmt::format("--cells {}: expected I/N, from 1/N to N/N", Quoted(text))};
  return Part{static_cast<std::size_t>(*index - 1), static_cast<std::size_t>(*of)};
}

// This process among all that ever run cells: host, number and start.
std::string StartOf(std::string_view process) {
  const Result<std::string> read = ReadFile(fmt::format("/proc/{}/stat", process));
  if (!read) return "";
  const std::string& text = *read;
  // The name in parentheses may hold spaces; the start is the 20th field behind it.
  const std::size_t behind = text.rfind(')');
  if (behind == std::string::npos) return "";
  const std::vector<std::string_view> fields = Split(std::string_view(text).substr(behind + 1), ' ');
  return fields.size() > 20 ? std::string(fields[20]) : "";
}

std::string WorkerHere(const RunnerDescription& here) {
  const std::string process = std::to_string(getpid());
  return fmt::format("{}:{}:{}", FactOf(here.environment.evidence, evidence::kHost), process, StartOf(process));
}

// Whether the attempt's worker can still end it: on this host by its process, elsewhere by the clock.
bool IsUnderWay(const CellAttempt& attempt, const RunnerDescription& here) {
  const std::vector<std::string_view> worker = Split(attempt.worker, ':');
  if (worker.size() == 3 && worker[0] == FactOf(here.environment.evidence, evidence::kHost))
    return !worker[2].empty() && StartOf(worker[1]) == worker[2];
  return attempt.until > UtcNow();
}

std::string UtcIn(std::chrono::seconds ahead) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr) + ahead.count()));
}

bool IsNoisy(const CellResult& result) {
  return result.state == CellState::kFailed && result.reason.starts_with("noisy");
}

class Evaluating {
 public:
  Evaluating(const EvaluateOptions& options, const EvaluationFile& file, Store& store, CellRunner& runner,
             ProgressLog& log)
      : options_(options), file_(file), store_(store), runner_(runner), log_(log), worker_(WorkerHere(runner.here())) {}

  // The cells of this process, those that others have begun left to them.
  Status Run(const Part& part) {
    std::vector<std::size_t> mine;
    for (std::size_t i = part.index; i < file_.cells.size(); i += part.of)
      if (file_.cells[i].cell.quantity == CellQuantity::kLatency) mine.push_back(i);
    for (std::size_t done = 0; done < mine.size() && !Interrupted(); ++done) {
      const PlannedCell& planned = file_.cells[mine[done]];
      log_.Progress(planned.name + ", " + ConditionsOf(planned.cell), static_cast<std::int64_t>(done),
                    static_cast<std::int64_t>(mine.size()), std::nullopt);
      INFIMUM_RETURN_IF_ERROR(RunOne(planned));
    }
    log_.EndProgress();
    return {};
  }

  // Each cell that has a result again, and what follows.
  Result<std::vector<VerifiedCell>> Verify(const Part& part) {
    INFIMUM_ASSIGN_OR_RETURN(const std::vector<CellAttempt> attempts, store_.Attempts(""));
    std::vector<VerifiedCell> verified;
    const std::string device = runner_.here().device.Key().text;
    for (std::size_t i = part.index; i < file_.cells.size() && !Interrupted(); i += part.of) {
      const PlannedCell& planned = file_.cells[i];
      if (planned.cell.quantity != CellQuantity::kLatency) continue;
      VerifiedCell one{planned.hash, planned.name, ConditionsOf(planned.cell), {}, {}, {}};
      const CellAttempt* const before = NewestResult(attempts, planned.hash, device);
      if (before == nullptr) {
        one.verification.not_comparable = NotComparable(planned, attempts, device);
      } else {
        log_.Progress("verifying " + planned.name, static_cast<std::int64_t>(i),
                      static_cast<std::int64_t>(file_.cells.size()), std::nullopt);
        const Status done = VerifyOne(planned, *before->result, one);
        if (Interrupted()) break;
        INFIMUM_RETURN_IF_ERROR(done);
      }
      verified.push_back(std::move(one));
    }
    log_.EndProgress();
    return verified;
  }

  std::size_t held() const { return held_; }          // left to other processes
  std::size_t compared() const { return compared_; }  // with an earlier result

 private:
  // A cell that is being measured, from `begin` on; its model is read for its facts once.
  struct Measuring {
    const PlannedCell& planned;
    CellRunner::Prepared prepared;
    Clock::Duration begin;
  };

  Result<Measuring> Prepare(const PlannedCell& planned) {
    const Clock::Duration begin = SteadyClock().Now();
    INFIMUM_ASSIGN_OR_RETURN(CellRunner::Prepared prepared, runner_.Prepare(planned, true));
    return Measuring{planned, std::move(prepared), begin};
  }

  Result<CellResult> Measure(const Measuring& cell) {
    return runner_.Run(cell.planned, cell.prepared, cell.planned.cell.method, log_);
  }

  // Within the time limit of the cell.
  Result<std::string> AddProcesses(const Measuring& cell, std::int64_t processes, CellResult& result) {
    const auto took = std::chrono::ceil<std::chrono::seconds>(SteadyClock().Now() - cell.begin).count();
    CellMethod method = cell.planned.cell.method;
    method.processes = processes;
    method.time_limit_s -= took;
    // As many again take as long again.
    if (took > method.time_limit_s) return std::string("more do not fit into its time limit");
    INFIMUM_ASSIGN_OR_RETURN(const CellResult more, runner_.Run(cell.planned, cell.prepared, method, log_));
    result.repetitions.insert(result.repetitions.end(), more.repetitions.begin(), more.repetitions.end());
    return more.state == CellState::kOk ? std::string() : "more of them: " + more.reason;
  }

  // Measures on where the verdict is undecided.
  Status VerifyOne(const PlannedCell& planned, const CellResult& before, VerifiedCell& one) {
    INFIMUM_ASSIGN_OR_RETURN(const auto begun, Begin(planned, [](const auto&) { return true; }));
    if (!begun) {
      one.verification.not_comparable = "another process measures it now";
      return {};
    }
    INFIMUM_ASSIGN_OR_RETURN(const Measuring cell, Prepare(planned));
    INFIMUM_ASSIGN_OR_RETURN(CellResult now, Measure(cell));
    INFIMUM_ASSIGN_OR_RETURN(
        one.verification,
        VerifyMeasuringOn(
            now, before, options_.threshold, runner_.here().device.last_level_cache, planned.cell.method.processes,
            [&](std::int64_t processes, CellResult& result) { return AddProcesses(cell, processes, result); }));
    ++compared_;
    one.before = TimeOf(before);
    one.now = TimeOf(now);
    now.verifies = true;
    return store_.EndCell(*begun, now);
  }

  // Measures on where no verification of it could be decided.
  Result<CellResult> MeasureFirmly(const PlannedCell& planned) {
    INFIMUM_ASSIGN_OR_RETURN(const Measuring cell, Prepare(planned));
    INFIMUM_ASSIGN_OR_RETURN(CellResult result, Measure(cell));
    INFIMUM_RETURN_IF_ERROR(MeasureUntilFirm(
        result, options_.threshold, planned.cell.method.processes,
        [&](std::int64_t processes, CellResult& more) { return AddProcesses(cell, processes, more); }));
    return result;
  }

  // Begins the cell where what was before leaves it to be run, unless another process is at it. Says what never ended.
  Result<std::optional<std::int64_t>> Begin(const PlannedCell& planned,
                                            const std::function<bool(std::span<const CellAttempt>)>& is_to_run) {
    // As long as it may take, and for what stands around it.
    const std::string until = UtcIn(std::chrono::seconds(planned.cell.method.time_limit_s + 120));
    const CellAttempt attempt{0, planned.hash, runner_.here().device.Key().text, worker_, UtcNow(), until};
    return store_.BeginCell(attempt, [&](std::span<const CellAttempt> before) {
      if (!is_to_run(before)) return false;
      for (const CellAttempt& one : before) {
        if (one.result) continue;
        if (IsUnderWay(one, runner_.here())) {
          ++held_;
          return false;
        }
        const auto is_later = [&](const CellAttempt& other) { return other.id > one.id; };
        if (std::ranges::none_of(before, is_later))
          log_.Warn(fmt::format("{} ({}) was begun at {} and never ended, as its worker is gone: it is run again",
                                planned.name, planned.hash.substr(0, 12), one.begun_at));
      }
      return true;
    });
  }

  Status RunOne(const PlannedCell& planned) {
    const auto is_done = [&](const CellAttempt& one) {
      return one.result && !one.result->verifies &&
             (one.result->state == CellState::kOk || !(options_.retry || IsNoisy(*one.result)));
    };
    INFIMUM_ASSIGN_OR_RETURN(const auto begun, Begin(planned, [&](const auto& before) {
                               return options_.again || std::ranges::none_of(before, is_done);
                             }));
    if (!begun) return {};
    Result<CellResult> result = MeasureFirmly(planned);
    // What was interrupted stays begun, and is told of next time.
    if (Interrupted()) return {};
    if (!result.ok()) return result.error();
    INFIMUM_RETURN_IF_ERROR(store_.EndCell(*begun, *result));
    if (result->state != CellState::kOk)
      log_.Warn(fmt::format("{} ({}): {}: {}", planned.name, planned.hash.substr(0, 12), Name(result->state),
                            result->reason));
    return {};
  }

  // Of a cell without a result: what of it is otherwise than in the one that is most like it.
  std::string NotComparable(const PlannedCell& planned, const std::vector<CellAttempt>& attempts,
                            const std::string& device) {
    if (known_.empty()) {
      const Status visited = store_.VisitEvaluations([&](const StoredEvaluation& evaluation) {
        for (const StoredCell& cell : evaluation.cells) known_.emplace(cell.hash, cell);
        return Status();
      });
      if (!visited.ok()) return visited.error().message;
    }
    std::vector<std::string> least;
    bool found = false;
    for (const CellAttempt& attempt : attempts) {
      const auto cell = known_.find(attempt.cell);
      if (!attempt.result || attempt.device != device || cell == known_.end()) continue;
      const Result<EvaluationCell> before = ParseCell(cell->second.text);
      if (!before.ok() || before->model.family != planned.cell.model.family ||
          (before->model.family.empty() && cell->second.name != planned.name))
        continue;
      std::vector<std::string> differences = DifferencesOf(*before, planned.cell);
      if (found && differences.size() >= least.size()) continue;
      found = true;
      least = std::move(differences);
    }
    if (!found) return "the store has no result of it on this device: `infimum evaluate` without --verify makes one";
    return "the store has none of it, but of one with other " + Join(least, ", ");
  }

  const EvaluateOptions& options_;
  const EvaluationFile& file_;
  Store& store_;
  CellRunner& runner_;
  ProgressLog& log_;
  std::string worker_;
  std::size_t held_ = 0, compared_ = 0;
  std::map<std::string, StoredCell> known_;
};

// What the store has, and of cells that are not run yet what is known beforehand.
Result<std::vector<SweepCell>> CellsNow(const EvaluationFile& file, Store& store, CellRunner& runner) {
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<CellAttempt> attempts, store.Attempts(file.hash));
  std::vector<SweepCell> cells = SweepCellsOf(file.cells, attempts, runner.here().device);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].state) continue;
    const bool is_floor = file.cells[i].cell.quantity == CellQuantity::kFloor;
    INFIMUM_ASSIGN_OR_RETURN(const CellRunner::Prepared prepared, runner.Prepare(file.cells[i], is_floor));
    cells[i].facts = prepared.facts;
    if (prepared.refusal) {
      cells[i].state = prepared.refusal->state;
      cells[i].reason = prepared.refusal->reason;
    } else if (is_floor) {
      cells[i].state = CellState::kOk;
    }
  }
  return cells;
}

// With all that a sweep's JSON says of its devices.
SweepReport AnalyzedReport(SweepReport report) {
  std::map<std::string, std::size_t> first;  // of each device
  for (const SweepCell& cell : report.cells) first.emplace(cell.device, first.size());
  std::ranges::stable_sort(report.cells, {}, [&](const SweepCell& cell) { return first.at(cell.device); });
  // Axes are nobody's choice here, so that none can be wrong.
  [[maybe_unused]] const Status analyzed = FinishReport(report);
  return report;
}

// Of a table that stands alone.
Status Write(const EvaluateOptions& options, const Section& table, const std::function<std::string()>& json) {
  const std::size_t width = options.output == "-" ? TerminalWidth() : 0;
  return WriteAnswer(
      options.format, options.output,
      {.table = [&] { return SectionText(table, width); }, .json = json, .csv = [&] { return SectionCsv(table); }});
}

Result<int> ShowDifferences(const EvaluateOptions& options, const EvaluationFile& file) {
  INFIMUM_ASSIGN_OR_RETURN(const EvaluationFile other, ReadEvaluationFile(options.other));
  std::vector<CellAttempt> attempts;
  std::map<std::string, std::string> texts;
  if (StoreExists(options.database)) {
    INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, OpenStore(options.database, OpenMode::kReadOnly));
    INFIMUM_ASSIGN_OR_RETURN(attempts, store->Attempts(""));
    INFIMUM_RETURN_IF_ERROR(store->VisitEvaluations([&](const StoredEvaluation& evaluation) {
      for (const StoredCell& cell : evaluation.cells) texts.emplace(cell.hash, cell.text);
      return Status();
    }));
  }
  const std::vector<FieldDifference> differences = DifferencesOf(file.cells, other.cells);
  const std::vector<KnownEffect> effects = KnownEffectsOf(differences, attempts, texts);
  INFIMUM_RETURN_IF_ERROR(Write(options, DifferenceTable(differences, effects),
                                [&] { return DifferenceJson(file.hash, other.hash, differences, effects); }));
  return kDone;
}

Result<int> RunEvaluate(const EvaluateOptions& options) {
  INFIMUM_RETURN_IF_ERROR(CheckWritable(options.output));
  const Result<Part> part = ParsePart(options.part);
  if (!part.ok()) return UsageError(part.error().message);
  INFIMUM_ASSIGN_OR_RETURN(EvaluationFile file, ReadEvaluationFile(options.file));
  if (!options.only.empty()) {
    std::erase_if(file.cells, [&](const PlannedCell& cell) { return !cell.hash.starts_with(options.only); });
    if (file.cells.empty())
      return Error{
          fmt::format("{}: no cell's hash begins with {}; --list shows them", options.file, Quoted(options.only))};
    file.hash = HashOf(file.cells);
  }
  if (!options.other.empty()) return ShowDifferences(options, file);
  ProgressLog log = options.log.Make();
  CellRunnerOptions runner_options = options.runner;
  INFIMUM_ASSIGN_OR_RETURN(runner_options.campaign.backend_options,
                           ParsePairs(options.backend_options, "--backend-option"));
  runner_options.measures_peaks = !options.list;
  INFIMUM_ASSIGN_OR_RETURN(const Installation installation, Installation::Find());
  // A list of what was never run needs no store.
  const bool is_new = options.list && !StoreExists(options.database);
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store,
                           OpenStore(is_new ? ":memory:" : options.database,
                                     options.list && !is_new ? OpenMode::kReadOnly : OpenMode::kReadWrite));
  INFIMUM_ASSIGN_OR_RETURN(CellRunner runner, CellRunner::Make(runner_options, installation, *store, log));
  if (const Status known = runner.CheckCells(file.cells); !known.ok()) return Within(options.file, known.error());
  Evaluating evaluating(options, file, *store, runner, log);
  if (options.verify) {
    INFIMUM_RETURN_IF_ERROR(store->SaveEvaluation(ToStored(file)));
    INFIMUM_ASSIGN_OR_RETURN(const std::vector<VerifiedCell> verified, evaluating.Verify(*part));
    INFIMUM_RETURN_IF_ERROR(Write(options, VerificationTable(verified, options.threshold),
                                  [&] { return VerificationJson(file.hash, verified); }));
    if (Interrupted()) return Error{"interrupted: cells that are not listed were not verified"};
    if (!verified.empty() && evaluating.held() == 0 && evaluating.compared() == 0)
      return Error{"nothing was verified: no cell has an earlier result"};
    return std::ranges::any_of(verified, &VerifiedCell::is_worse) ? kGateFailed : kDone;
  }
  if (!options.list) {
    INFIMUM_RETURN_IF_ERROR(store->SaveEvaluation(ToStored(file)));
    INFIMUM_RETURN_IF_ERROR(evaluating.Run(*part));
    if (evaluating.held() > 0)
      log.Say(fmt::format("{} left to other processes, which measure them now", CountText(evaluating.held(), "cell")));
  }
  SweepReport report;
  report.name = file.evaluation.name;
  INFIMUM_ASSIGN_OR_RETURN(report.cells, CellsNow(file, *store, runner));
  Section table = CellList(report, 0, true);
  table.title =
      fmt::format("{}: {} ({})", report.name, CountText(report.cells.size(), "cell"), file.hash.substr(0, 12));
  INFIMUM_RETURN_IF_ERROR(WriteAnswer(options.format, options.output,
                                      {.table = [&] { return SectionText(table, TerminalWidth()); },
                                       .json = [&] { return SweepJson(AnalyzedReport(report)); },
                                       .csv = [&] { return SweepCsv(report); }}));
  if (Interrupted()) return Error{"interrupted; the same command goes on where it stopped"};
  return kDone;
}

}  // namespace

void AddEvaluateCommand(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<EvaluateOptions>();
  CLI::App* command = NewCommand(
      app, "evaluate", "what a file states: models, devices, frameworks, threads, each combination measured once",
      "FILE is infimum.evaluation/1 (src/evaluation/README.md). Each cell is kept in the store with its state: ok, "
      "oom,\n"
      "timeout, failed, unsupported or skipped. What is there already is not measured again: the same command goes on\n"
      "where it was stopped, and several processes or machines share the cells of one store, or take a part each.",
      "infimum evaluate sweep.json --db team.db");
  command->add_option("FILE", options->file, "evaluation file")->required();
  AddDatabase(command, options->database);
  command->add_flag("--list", options->list, "the cells and what is known of them; nothing is measured");
  AddValue(command, "--cells", options->part, "I/N", "only every Nth cell, from the Ith");
  AddValue(command, "--only", options->only, "HASH", "only the cells whose hash begins so");
  command->add_flag("--again", options->again, "also cells that have a result");
  command->add_flag("--retry", options->retry, "also cells whose result is not ok");
  command
      ->add_flag("--verify", options->verify,
                 "measure cells that have a result again, and on while undecided: same, faster, slower, and what "
                 "changed; exit code 3 where numbers differ or a cell is slower, 1 where none has an earlier result")
      ->excludes("--list");
  AddValue(command, "--threshold", options->threshold, "X",
           "relative difference that matters to --verify; a first result is measured until it is known to within it")
      ->check(NumberBetween(0.001, 10))
      ->capture_default_str();
  AddValue(command, "--diff", options->other, "FILE",
           "another evaluation file: each field that differs, and what the store knows of its effect");
  AddValue(command, "--python", options->runner.python, "PATH", "the Python whose framework build is measured");
  AddBackend(command, options->runner.campaign.backend, options->backend_options);
  AddFormat(command, options->format);
  AddValue(command, "-o,--output", options->output, "FILE", "file to write; - for standard output");
  AddProgressLog(command, options->log);
  invocation.Bind(command, [options] { return RunEvaluate(*options); });
}

}  // namespace infimum::cli
