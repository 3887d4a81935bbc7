#include "src/app/options.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <tuple>

#include "infimum/base/enum_names.h"
#include "infimum/base/file_text.h"
#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "src/app/runners/framework_run.h"
#include "src/app/runners/installation.h"
#include "src/core/graph/run_time_quantities.h"

namespace infimum::cli {
namespace {

// As the runners read it; a number alone is of seconds.
Result<std::chrono::seconds> ParseBudget(const std::string& text) {
  const bool bare = ParseInteger(text).has_value();
  INFIMUM_ASSIGN_OR_RETURN(const Clock::Duration duration, ParseDuration(bare ? text + "s" : text));
  return std::max(std::chrono::seconds(1), std::chrono::ceil<std::chrono::seconds>(duration));
}

}  // namespace

Result<std::map<std::string, std::int64_t>> DimOptions::Parse() const {
  std::map<std::string, std::int64_t> dims;
  for (const auto& [option, given, example] :
       {std::tuple{"--dim", &texts, "--dim batch=8"}, std::tuple{"--assume", &assumed, "--assume moe.experts=2"}}) {
    for (const std::string& text : *given) {
      const std::size_t at = text.rfind('=');
      const std::optional<std::int64_t> extent =
          at == std::string::npos ? std::nullopt : ParseInteger(std::string_view(text).substr(at + 1));
      if (at == 0 || !extent || *extent < 0) {
        return Error{fmt::format("{} {}: not NAME=N with N of at least 0, such as {}", option, Quoted(text), example)};
      }
      if (given == &assumed && !IsQuantity(text.substr(0, at))) {
        std::string kinds;
        for (const QuantityKind& kind : kQuantityKinds)
          kinds += fmt::format("{}{} ({})", kinds.empty() ? "" : ", ", kind.name, kind.meaning);
        return Error{fmt::format("--assume {}: what can be stated is {}", Quoted(text), kinds)};
      }
      const auto [entry, added] = dims.emplace(text.substr(0, at), *extent);
      if (!added && entry->second != *extent) {
        return Error{fmt::format("{} {}: {} was given as {} before; keep one of them", option, Quoted(text),
                                 Quoted(entry->first), entry->second)};
      }
    }
  }
  return dims;
}

ProgressLog ProgressLogOptions::Make() const {
  return ProgressLog::ToStandardError(quiet ? Loudness::kQuiet : verbose ? Loudness::kVerbose : Loudness::kNormal);
}

void AddModel(CLI::App* command, std::string& model) {
  command->add_option("MODEL", model, "ONNX file; its weights are not loaded")
      ->required()
      ->check(CLI::Validator(
          [](const std::string& path) { return std::string(path.empty() ? "the name is empty" : ""); }, ""));
}

void AddDims(CLI::App* command, DimOptions& dims) {
  // One value each time: what follows may be MODEL.
  AddValue(command, "--dim", dims.texts, "NAME=N",
           "bind a symbolic dimension, NAME=N; may be repeated. For a dimension without a name: INPUT.AXIS=N")
      ->check([](const std::string& text) {
        const auto parsed = DimOptions{{text}, {}}.Parse();
        return parsed ? std::string() : parsed.error().message;
      })
      ->allow_extra_args(false);
  AddValue(command, "--assume", dims.assumed, "NAME=N",
           "state a number that only a run decides, NAME=N or of one layer NAME@LAYER=N; may be repeated. "
           "`infimum inspect` lists those of a model: cache.positions, if.then, kept.elements, loop.trips, moe.experts")
      ->check([](const std::string& text) {
        const auto parsed = DimOptions{{}, {text}}.Parse();
        return parsed ? std::string() : parsed.error().message;
      })
      ->allow_extra_args(false);
}

void AddFrameworkBuild(CLI::App* command, FrameworkOptions& framework) {
  AddValue(command, "--inputs", framework.inputs, "FILE.npz",
           "a NumPy file of inputs by name, for the framework's run; those that it lacks are random, seeded")
      ->check(CLI::ExistingFile);
  AddValue(command, "--python", framework.python, "PATH", "the Python whose framework build is measured");
  AddValue(command, "--module", framework.module, "M",
           "of pytorch: FILE.py:NAME or PACKAGE.MODULE:NAME, a module or a function that makes it; FILE.pt2 "
           "(torch.export) or FILE.pt (torch.jit)");
  AddValue(command, "--mode", framework.mode, "NAME",
           "of pytorch: eager or compiled (torch.compile); on GPUs cuda-graph, of tensorrt too");
}

void AddDatabase(CLI::App* command, std::string& address) {
  AddValue(command, "--db", address, "ADDRESS", "the store: a SQLite file, or postgresql://USER@HOST/NAME")
      ->capture_default_str();
}

void AddThreads(CLI::App* command, std::int64_t& threads) {
  AddValue(command, "--threads", threads, "N", "threads, for bound and run")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1024}))
      ->capture_default_str();
}

std::string IsBackend(const std::string& name) {
  const Result<Installation> installation = Installation::Find();
  if (!installation) return installation.error().message;
  const Result<std::filesystem::path> runner = installation->Runner(name);
  return runner ? std::string() : runner.error().message;
}

void AddBackend(CLI::App* command, std::string& backend, std::vector<std::string>& backend_options) {
  AddValue(command, "--backend", backend, "NAME",
           "the runner to measure with, infimum-microbench-NAME: onednn on a processor, cuda on a GPU")
      ->check(IsBackend)
      ->capture_default_str();
  AddValue(command, "--backend-option", backend_options, "NAME=VALUE", "passed to the runner")
      ->check([](const std::string& text) {
        const std::size_t at = text.find('=');
        return at == std::string::npos || at == 0 ? Quoted(text) + " is not NAME=VALUE" : std::string();
      })
      ->allow_extra_args(false);
}

void AddDeviceHere(CLI::App* command, std::string& backend) {
  const auto choose = [&backend](const std::string& name) { backend = *BackendOfDevice(name); };
  command
      ->add_option_function<std::string>(
          "--device", choose, "cpu or gpu (default: the GPU where it is NVIDIA's and has a driver, else the processor)")
      ->check(CLI::IsMember({"cpu", "gpu"}))
      ->excludes("--backend");
}

void AddBudget(CLI::App* command, std::chrono::seconds& budget) {
  AddParsed(command, "--budget", budget, ParseBudget, "how long measuring may take, such as 90s, 3m or 1h")
      ->type_name("TIME")
      ->default_str(fmt::format("{}s", budget.count()));
}

void AddTier(CLI::App* command, CandidateTier& tier) {
  const auto parse = [](const std::string& text) -> Result<CandidateTier> {
    if (const std::optional<CandidateTier> found = FindTier(text)) return *found;
    return Error{Quoted(text) + " is none of heuristic, engine and exhaustive"};
  };
  AddParsed(command, "--tier", tier, parse, "which candidates: heuristic, engine or exhaustive")
      ->type_name("T")
      ->default_str(std::string(Name(tier)));
}

void AddContract(CLI::App* command, std::optional<NumericContract>& contract) {
  const auto parse = [](const std::string& text) -> Result<std::optional<NumericContract>> {
    if (const std::optional<NumericContract> found = FindContract(text)) return found;
    const std::vector<std::string_view> known{"strict-f32", "tf32", "f16", "bf16", "int8", "fp8"};
    return Error{"unknown contract " + Quoted(text) + DidYouMean(text, known)};
  };
  AddParsed(command, "--contract", contract, parse,
            "numeric contract: strict-f32, tf32, f16, bf16, int8, fp8 (default: the model's own types)")
      ->type_name("C");
}

void AddCache(CLI::App* command, std::optional<CacheState>& cache, const std::string& means) {
  const bool takes_context = !cache;
  command
      ->add_option_function<std::string>(
          "--cache",
          [&cache, takes_context](const std::string& text) {
            cache = FindCacheState(text);
            if (cache || (takes_context && text == kInContext)) return;
            std::vector<std::string_view> names(CacheStateNames().begin(), CacheStateNames().end());
            if (takes_context) names.insert(names.begin(), kInContext);
            const std::string guess = DidYouMean(text, names);
            const std::vector<std::string> all(names.begin(), names.end());
            throw CLI::ValidationError("--cache", "unknown cache state " + Quoted(text) +
                                                      (guess.empty() ? "; they are " + Join(all, ", ") : guess));
          },
          means + ": " +
              (takes_context ? "in-context (weights as near as an inference of the model leaves them), " : "") +
              "warm, cold or cold-weights (weights from memory, all else warm)")
      ->type_name("C")
      ->default_str(std::string(Name(cache)));
}

CLI::Validator NumberBetween(double least, double most) {
  return {[least, most](const std::string& text) {
            const std::optional<double> number = ParseNumber(text);
            if (number && *number >= least && *number <= most) return std::string();
            return fmt::format("{} is no number from {} to {}", Quoted(text), FormatNumber(least), FormatNumber(most));
          },
          fmt::format("FROM {} TO {}", FormatNumber(least), FormatNumber(most))};
}

CLI::Validator Count() {
  return {[](const std::string& text) {
            const std::optional<std::int64_t> count = ParseInteger(text);
            return count && *count >= 0 ? std::string() : Quoted(text) + " is no count";
          },
          ""};
}

void AddFormat(CLI::App* command, OutputFormat& format) {
  const auto parse = [](const std::string& text) -> Result<OutputFormat> {
    constexpr EnumNames<OutputFormat::kCsv> kFormats = {"table", "json", "csv"};
    if (const std::optional<OutputFormat> found = kFormats.Find(text)) return *found;
    return Error{"unknown format " + Quoted(text) + DidYouMean(text, kFormats.all())};
  };
  AddParsed(command, "--format", format, parse, "table, json or csv")->type_name("F")->default_str("table");
}

void AddCut(CLI::App* command, synth::Cut& cut, const std::string& otherwise) {
  CLI::Option* block = command->add_option_function<std::size_t>(
      "--block",
      [&cut](const std::size_t& layers) {
        cut.into = synth::CutInto::kBlocks;
        cut.block_layers = layers;
      },
      fmt::format("bricks of N successive layers that take time (default: {})", otherwise));
  block->type_name("N")->check(CLI::Range(1, 1'000'000));
  command
      ->add_option_function<std::string>(
          "--cut",
          [&cut](const std::string& into) {
            cut.into = into == "fused" ? synth::CutInto::kFused : synth::CutInto::kLayers;
          },
          "layers, or fused: regions that a framework may run as one")
      ->type_name("NAME")
      ->check(CLI::IsMember({"layers", "fused"}))
      ->excludes(block);
}

void AddAnonymize(CLI::App* command, bool& anonymize) {
  command->add_flag("--anonymize", anonymize,
                    "replace the names of model, layers, values, inputs, custom operators and files, and leave out the "
                    "host, so that the report can be shared; what stays are shapes, known operators, times, device and "
                    "versions of libraries");
}

void AddProgressLog(CLI::App* command, ProgressLogOptions& log) {
  CLI::Option* quiet = command->add_flag("--quiet,-q", log.quiet, "no progress, only warnings and errors");
  command->add_flag("--verbose,-v", log.verbose, "also what the runners say")->excludes(quiet);
}

Result<std::map<std::string, std::string>> ParsePairs(const std::vector<std::string>& texts, const char* option) {
  std::map<std::string, std::string> pairs;
  for (const std::string& text : texts) {
    const std::size_t at = text.find('=');
    if (at == std::string::npos || at == 0) return Error{fmt::format("{} {}: not NAME=VALUE", option, Quoted(text))};
    pairs[text.substr(0, at)] = text.substr(at + 1);
  }
  return pairs;
}

Status WriteOutput(const std::string& path, const std::string& text) {
  if (path == "-") {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
      const int cause = errno;
      // `| head` has read enough: that is no failure, and ends us as it ends every other program.
      if (cause == EPIPE) {
        std::signal(SIGPIPE, SIG_DFL);
        std::raise(SIGPIPE);
      }
      return Error{fmt::format("standard output: {}", std::strerror(cause))};
    }
    return {};
  }
  return WriteFile(path, text);
}

Status WriteAnswer(OutputFormat format, const std::string& path, const AnswerForms& forms) {
  switch (format) {
    case OutputFormat::kTable:
      return WriteOutput(path, forms.table());
    case OutputFormat::kJson:
      return WriteOutput(path, forms.json());
    case OutputFormat::kCsv:
      break;
  }
  return WriteOutput(path, forms.csv());
}

Status CheckWritable(const std::string& path) {
  if (path == "-" || path.empty()) return {};
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return Error{fmt::format("{}: cannot be written: a folder", path)};
  if (IsSpecialFile(path)) return {};
  const std::string part = path + ".part";
  errno = 0;
  std::ofstream file(part, std::ios::binary | std::ios::app);
  const bool writable = file.is_open();
  const int cause = errno;
  file.close();
  if (writable) std::remove(part.c_str());
  if (!writable) return Error{fmt::format("{}: cannot be written: {}", path, std::strerror(cause))};
  return {};
}

std::size_t TerminalWidth() {
  winsize size = {};
  if (isatty(STDOUT_FILENO) != 1 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

}  // namespace infimum::cli
