// infimum llm MODEL: tokens per second at most, over batch, context, device and type of weights.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "infimum/base/text.h"
#include "reports/text/fact_text.h"
#include "src/app/command.h"
#include "src/app/commands/llm/llm.h"
#include "src/app/model_report/report_output.h"
#include "src/app/options.h"
#include "src/core/graph/run_time_quantities.h"
#include "src/synth/families.h"

namespace infimum::cli {
namespace {

struct LlmCommandOptions {
  LlmOptions llm;
  std::string decode, prefill;
  DimOptions dims;
  std::string batches = "1,8,32", contexts = "1k,8k", weights = "own", devices = "here";
  std::string evaluation;
  std::vector<std::string> backend_options;
  OutputFormat format = OutputFormat::kTable;
  std::string output;
  ProgressLogOptions log;
};

// "1k,8k,128k" and "1..8k*2" in words that ranges are made of: k behind a number is 1,024.
Result<std::vector<std::int64_t>> ParseCounts(const char* option, const std::string& text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
    const auto number = ParseInteger(std::string_view(text).substr(at, end - at));
    // "1.5k" is no number here, and "1..8k" a range.
    const bool is_part = at > 0 && text[at - 1] == '.' && (at < 2 || text[at - 2] != '.');
    const bool is_kilo = !is_part && end < text.size() && (text[end] == 'k' || text[end] == 'K');
    plain += is_kilo && number && *number < (std::int64_t{1} << 40) ? std::to_string(*number * 1024)
                                                                    : text.substr(at, end + 1 - at);
    at = end + 1;
  }
  const synth::Parameter parameter{.name = option, .what = "", .usual = 1, .least = 1};
  return synth::ParseValues(parameter, plain);
}

std::vector<std::string> Words(const std::string& text) {
  std::vector<std::string> words;
  for (const std::string_view word : Split(text, ','))
    if (const std::string_view bare = TrimSpace(word); !bare.empty()) words.emplace_back(bare);
  return words;
}

Result<int> RunLlm(const LlmCommandOptions& options) {
  if (!options.output.empty() && !options.evaluation.empty())
    return UsageError("--evaluation writes cells in place of a table: give it without -o");
  if (!options.output.empty()) INFIMUM_RETURN_IF_ERROR(CheckReportForm(options.output));
  if (!options.evaluation.empty()) INFIMUM_RETURN_IF_ERROR(CheckWritable(options.evaluation));
  LlmOptions llm = options.llm;
  llm.decode = options.decode;
  llm.prefill = options.prefill;
  INFIMUM_ASSIGN_OR_RETURN(llm.dims, options.dims.Parse());
  if (std::ranges::any_of(llm.dims, [](const auto& dim) { return KindOfQuantity(dim.first) == kCachePositions; }))
    return UsageError("--assume cache.positions: --context says how many positions there are");
  const Result<std::vector<std::int64_t>> batches = ParseCounts("batch", options.batches);
  const Result<std::vector<std::int64_t>> contexts = ParseCounts("context", options.contexts);
  for (const auto* counts : {&batches, &contexts})
    if (!counts->ok()) return UsageError(counts->error().message);
  llm.batches = *batches;
  llm.contexts = *contexts;
  llm.weights = Words(options.weights);
  if (llm.weights.empty()) llm.weights = {"own"};
  llm.sweep.devices = Words(options.devices);
  if (llm.sweep.devices.empty())
    return UsageError(fmt::format("--device {}: it names no device; here is this one", Quoted(options.devices)));
  INFIMUM_ASSIGN_OR_RETURN(llm.sweep.campaign.backend_options, ParsePairs(options.backend_options, "--backend-option"));
  ProgressLog log = options.log.Make();
  if (!options.evaluation.empty()) {
    INFIMUM_ASSIGN_OR_RETURN(const EvaluationFile file, MakeLlmEvaluation(llm, false));
    INFIMUM_RETURN_IF_ERROR(WriteOutput(options.evaluation, file.text));
    log.Say(fmt::format("wrote {}: {}", options.evaluation, CountText(file.cells.size(), "cell")));
    return kDone;
  }
  llm.sweep.measures_peaks = std::ranges::find(llm.sweep.devices, "here") != llm.sweep.devices.end();
  INFIMUM_ASSIGN_OR_RETURN(const SweepReport report, MakeLlmReport(llm, log));
  const auto json = [&] { return SweepJson(report); };
  const auto csv = [&] { return SweepCsv(report); };
  if (options.output.empty()) {
    INFIMUM_RETURN_IF_ERROR(WriteAnswer(
        options.format, "-", {.table = [&] { return TokensText(report, TerminalWidth()); }, .json = json, .csv = csv}));
    return kDone;
  }
  INFIMUM_RETURN_IF_ERROR(WriteReportForm(options.output, {.page = [&] { return SweepPage(report); },
                                                           .markdown = [&] { return SweepMarkdown(report); },
                                                           .json = json,
                                                           .csv = csv}));
  if (options.output != "-") log.Say(fmt::format("wrote {}", options.output));
  return kDone;
}

}  // namespace

void AddLlmCommand(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<LlmCommandOptions>();
  CLI::App* command = NewCommand(
      app, "llm", "a language model's tokens per second at most, over batch, context, device and type of weights",
      std::string("Of each batch, context and type of weights: the least time to the first token (a prefill of the\n"
                  "whole context), the least time of each token behind it, what decides it, and the bytes of the\n"
                  "caches; beside them what the store has measured. No weight files are needed. Dimensions are found\n"
                  "by the names of inputs as Hugging Face, Optimum and ONNX Runtime GenAI write them.\n"
                  "Without -o the table is shown here. ") +
          kReportForms,
      "infimum llm model.onnx --device h100-sxm,l40s --context 1k,8k,128k --batch 1..128*2 --weights own,s4");
  command->add_option("MODEL", options->decode, "ONNX file with caches as inputs; its weights are not loaded")
      ->required();
  AddValue(command, "--prefill", options->prefill, "MODEL", "the model of the prefill, where it is a file of its own");
  AddDims(command, options->dims);
  command->add_option("--batch", options->batches, "sequences at once: 1,8,32 or 1..128*2")->capture_default_str();
  command
      ->add_option(
          "--context", options->contexts,
          "positions of the prompt, and of a step with its caches, the token's own among them: 1k,8k,128k or 1..8k*2")
      ->capture_default_str();
  command
      ->add_option("--weights", options->weights,
                   "what the weights of products are stored as: own, f32, f16, bf16, f8, s8, s4 (s8 and s4 in blocks "
                   "of 32 with a scale each); f16/s4: all other values in f16")
      ->capture_default_str();
  command->add_option("--device", options->devices, "devices, a comma between two; here: this one")
      ->join(',')
      ->type_name("NAME")
      ->capture_default_str();
  AddValue(command, "--evaluation", options->evaluation, "FILE",
           "write the cells as an evaluation, which `infimum evaluate` measures here, instead of the table");
  AddDatabase(command, options->llm.sweep.database);
  AddBackend(command, options->llm.sweep.campaign.backend, options->backend_options);
  AddFormat(command, options->format);
  AddValue(command, "-o,--output", options->output, "FILE", "file to write; - for the page on standard output");
  AddProgressLog(command, options->log);
  invocation.Bind(command, [options] { return RunLlm(*options); });
}

}  // namespace infimum::cli
