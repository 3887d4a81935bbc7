// Options that several commands share: named, explained and checked in one place.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "infimum/measurement/contract.h"
#include "infimum/measurement/measurement.h"
#include "src/app/processes/progress_log.h"
#include "src/synth/bricks.h"

namespace infimum {
struct FrameworkOptions;
}

namespace infimum::cli {

enum class OutputFormat { kTable, kJson, kCsv };

struct DimOptions {
  std::vector<std::string> texts = {};
  std::vector<std::string> assumed = {};  // numbers that only a run decides (src/core/graph/run_time_quantities.h)
  Result<std::map<std::string, std::int64_t>> Parse() const;
};

struct ProgressLogOptions {
  bool quiet = false;
  bool verbose = false;
  ProgressLog Make() const;
};

// An option with a value, which the help calls `type`.
template <class T>
CLI::Option* AddValue(CLI::App* command, const std::string& name, T& value, const std::string& type,
                      const std::string& description) {
  return command->add_option(name, value, description)->type_name(type);
}
// That may be given several times, with one value each: what follows it may be a positional argument.
template <class T>
CLI::Option* AddList(CLI::App* command, const std::string& name, T& values, const std::string& type,
                     const std::string& description) {
  return AddValue(command, name, values, type, description)->allow_extra_args(false);
}

// An option whose text `parse` makes the value of; an error of it is the option's.
template <class T>
CLI::Option* AddParsed(CLI::App* command, const std::string& name, T& value,
                       std::function<Result<std::type_identity_t<T>>(const std::string&)> parse,
                       const std::string& description) {
  const auto take = [name, &value, parse = std::move(parse)](const std::string& text) {
    Result<T> parsed = parse(text);
    if (!parsed) throw CLI::ValidationError(name, parsed.error().message);
    value = *std::move(parsed);
  };
  return command->add_option_function<std::string>(name, take, description);
}

void AddModel(CLI::App* command, std::string& model);
void AddDims(CLI::App* command, DimOptions& dims);
// What a framework's run needs beside the framework: --inputs, --python, --module, --mode.
void AddFrameworkBuild(CLI::App* command, FrameworkOptions& framework);
void AddDatabase(CLI::App* command, std::string& address);
void AddThreads(CLI::App* command, std::int64_t& threads);
// A check of an option: "" where there is a runner of this name, else which there are.
std::string IsBackend(const std::string& name);
void AddBackend(CLI::App* command, std::string& backend, std::vector<std::string>& backend_options);
// --device of commands that are about this machine alone: its processor or its GPU, by their backends.
void AddDeviceHere(CLI::App* command, std::string& backend);
void AddBudget(CLI::App* command, std::chrono::seconds& budget);
void AddContract(CLI::App* command, std::optional<NumericContract>& contract);
void AddTier(CLI::App* command, CandidateTier& tier);
// --cache: `means` says what the state is of.
// Where `cache` is absent bounds in context can be asked for, and are the default.
void AddCache(CLI::App* command, std::optional<CacheState>& cache, const std::string& means);
// A check of an option: a number of this range. CLI::Range lets through what is not a number.
CLI::Validator NumberBetween(double least, double most);
// Likewise, of a count that is read as unsigned: CLI11 would turn -1 around.
CLI::Validator Count();
void AddFormat(CLI::App* command, OutputFormat& format);
// --block and --cut of commands that cut models into bricks; `otherwise`: what they do without both.
void AddCut(CLI::App* command, synth::Cut& cut, const std::string& otherwise);
// --anonymize of commands that write reports.
void AddAnonymize(CLI::App* command, bool& anonymize);
void AddProgressLog(CLI::App* command, ProgressLogOptions& log);

// NAME=VALUE pairs of --backend-option.
Result<std::map<std::string, std::string>> ParsePairs(const std::vector<std::string>& texts, const char* option);

// Writes to `path`, "-" for standard output; an error names the path and the cause.
Status WriteOutput(const std::string& path, const std::string& text);

// Opens (and empties) the file before work begins, so that a path that cannot be written costs nothing.
Status CheckWritable(const std::string& path);

// An answer in each format; only the one that was asked for is made.
struct AnswerForms {
  std::function<std::string()> table, json, csv;
};
Status WriteAnswer(OutputFormat format, const std::string& path, const AnswerForms& forms);

// Columns of the terminal on standard output; 0 where it is not a terminal.
std::size_t TerminalWidth();

}  // namespace infimum::cli
