#include "src/readers/benchmarks/labelled_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "infimum/base/text.h"

namespace infimum::ingest {
namespace {

constexpr std::size_t kMaxText = std::size_t{1} << 16;  // a region of 256 members fits
constexpr std::size_t kMaxAlgorithm = 200;
constexpr int kMostCuts = 32;

// What Google Benchmark itself appends to names.
bool IsSuffix(std::string_view piece) {
  constexpr std::array<std::string_view, 3> kWhole = {"manual_time", "real_time", "process_time"};
  constexpr std::array<std::string_view, 5> kBegin = {
      "iterations:", "min_time:", "min_warmup_time:", "repeats:", "threads:"};
  return std::ranges::find(kWhole, piece) != kWhole.end() ||
         std::ranges::any_of(kBegin, [&](std::string_view begin) { return piece.starts_with(begin); });
}

// A name on one line, as candidates are called.
std::string Name(std::string_view text, std::string_view fallback) {
  std::string name(TrimSpace(text).substr(0, kMaxAlgorithm));
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::iscntrl(c) != 0; }, '_');
  // A cut may have split a character.
  while (!name.empty() && (static_cast<unsigned char>(name.back()) & 0xc0U) == 0x80U) name.pop_back();
  if (!name.empty() && static_cast<unsigned char>(name.back()) >= 0xc0U) name.pop_back();
  return name.empty() ? std::string(fallback) : name;
}

std::string AlgorithmOf(std::string_view rest) {
  std::vector<std::string> pieces;
  for (const std::string_view piece : Split(rest, '/')) {
    if (!TrimSpace(piece).empty() && !IsSuffix(TrimSpace(piece))) pieces.emplace_back(TrimSpace(piece));
  }
  return Name(Join(pieces, "/"), "default");
}

std::string LibraryOf(std::string_view executable) {
  const std::size_t folder = executable.find_last_of("/\\");
  if (folder != std::string_view::npos) executable.remove_prefix(folder + 1);
  if (executable.ends_with(".exe")) executable.remove_suffix(4);
  return Name(executable, "unknown");
}

}  // namespace

std::optional<LabelledLayer> FindLabelledLayer(const BenchmarkEntry& entry, std::string_view executable) {
  if (entry.label.size() > kMaxText || entry.name.size() > kMaxText) return std::nullopt;
  const auto layer = [&](Workload workload, std::string_view rest) {
    Candidate candidate{LibraryOf(executable), AlgorithmOf(rest), "any", "any", false};
    return LabelledLayer{std::move(workload), std::move(candidate)};
  };
  const std::string_view name = entry.name, label = TrimSpace(entry.label);
  if (Result<Workload> workload = ParseWorkload(label); workload.ok())
    return layer(*std::move(workload), name.starts_with(label) ? name.substr(label.size()) : name);
  std::size_t end = name.size();
  for (int cuts = 0; cuts < kMostCuts; ++cuts) {
    if (Result<Workload> workload = ParseWorkload(name.substr(0, end)); workload.ok())
      return layer(*std::move(workload), name.substr(end));
    end = end == 0 ? std::string_view::npos : name.find_last_of("/ ", end - 1);
    if (end == std::string_view::npos) break;
  }
  return std::nullopt;
}

namespace {

constexpr std::string_view kEmittedSchema = "infimum.emit/1";
constexpr double kMaxMicroseconds = 1e15;  // as in journals
constexpr std::string_view kContract = "contract=";
constexpr std::string_view kUnsupported = "unsupported: ";

Result<double> CounterOf(const BenchmarkEntry& entry, std::string_view name) {
  const auto found = entry.counters.find(name);
  if (found == entry.counters.end()) return Error{fmt::format("has no counter '{}'", name)};
  if (!(found->second > 0) || found->second > kMaxMicroseconds)
    return Error{fmt::format("'{}' is {}, expected a positive number", name, found->second)};
  return found->second;
}

}  // namespace

Result<bool> IsEmitted(const BenchmarkContext& context) {
  if (context.infimum_schema == kEmittedSchema) return true;
  if (!context.infimum_schema.starts_with("infimum.emit/")) return false;
  return Error{fmt::format("context.infimum_schema is {}, this infimum reads '{}': update infimum",
                           Quoted(context.infimum_schema), kEmittedSchema)};
}

std::optional<LabelledLayer> FindEmittedLayer(const BenchmarkEntry& entry) {
  const std::string_view label = TrimSpace(entry.label), name = entry.name;
  const std::string_view candidate = label.substr(0, label.find(' '));
  const std::size_t slash = candidate.find('/');
  const std::size_t end = name.rfind("/" + std::string(candidate) + "/iterations:");
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == candidate.size()) return std::nullopt;
  if (end == std::string_view::npos) return std::nullopt;
  Result<Workload> workload = ParseWorkload(name.substr(0, end));
  if (!workload.ok()) return std::nullopt;
  LabelledLayer layer{*std::move(workload), {}};
  layer.candidate.library = candidate.substr(0, slash);
  layer.candidate.algorithm = candidate.substr(slash + 1);
  // What it does not state must not be taken for a layout that fits everywhere.
  layer.candidate.input_layout = "opaque";
  layer.candidate.output_layout = "opaque";
  for (const std::string_view word : Split(TrimSpace(label.substr(candidate.size())), ' ')) {
    if (const std::size_t arrow = word.find("->"); arrow != std::string_view::npos) {
      layer.candidate.input_layout = word.substr(0, arrow);
      layer.candidate.output_layout = word.substr(arrow + 2);
    } else if (word.starts_with(kContract)) {
      layer.contract = FindContract(word.substr(kContract.size()));
      if (!layer.contract) return std::nullopt;
    } else if (word == "uncaptured") {
      layer.flags.emplace_back(word);
    }
  }
  const auto choice = entry.counters.find("library_choice");
  layer.candidate.library_choice = choice != entry.counters.end() && choice->second == 1;
  return layer;
}

Result<Repetition> EmittedRepetition(const BenchmarkEntry& entry) {
  INFIMUM_ASSIGN_OR_RETURN(const double least, CounterOf(entry, "min_us"));
  INFIMUM_ASSIGN_OR_RETURN(const double median, CounterOf(entry, "median_us"));
  INFIMUM_ASSIGN_OR_RETURN(const double p95, CounterOf(entry, "p95_us"));
  INFIMUM_ASSIGN_OR_RETURN(const double samples, CounterOf(entry, "samples"));
  if (least > median || median > p95)
    return Error{fmt::format("'min_us' {}, 'median_us' {} and 'p95_us' {} do not ascend", least, median, p95)};
  if (samples != std::floor(samples)) return Error{fmt::format("'samples' is {}, expected a whole number", samples)};
  return Repetition{static_cast<std::int64_t>(samples), Latency(least), Latency(median), Latency(p95), {}};
}

EmittedFailure FailureOf(std::string_view message) {
  if (!message.starts_with(kUnsupported)) return {Outcome::kFailed, message};
  return {Outcome::kUnsupported, message.substr(kUnsupported.size())};
}

Result<Environment> EmittedEnvironment(const BenchmarkContext& context) {
  Environment environment;
  for (const std::string_view library : Split(context.infimum_libraries, ',')) {
    const std::size_t equals = library.find('=');
    if (equals == std::string_view::npos || equals == 0 || library.size() > 200) {
      return Error{
          fmt::format("context.infimum_libraries is {}, expected NAME=VERSION", Quoted(context.infimum_libraries))};
    }
    environment.libraries[std::string(library.substr(0, equals))] = library.substr(equals + 1);
  }
  const std::optional<std::int64_t> threads = ParseInteger(context.infimum_threads);
  if (!threads || *threads < 1 || *threads > 100'000) {
    return Error{
        fmt::format("context.infimum_threads is {}, expected a number of threads", Quoted(context.infimum_threads))};
  }
  environment.threads = *threads;
  if (!context.infimum_affinity.empty())
    environment.evidence[evidence::kAffinity] = context.infimum_affinity.substr(0, 200);
  return environment;
}

}  // namespace infimum::ingest
