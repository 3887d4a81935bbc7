// How many candidates the layers of models have on a GPU that is not here, by family and contract, as a table in
// Markdown:
//
//   benchmarks gpu_candidates [--gpu h200] [--contracts strict-f32,tf32,f16,bf16,int8,fp8] MODEL[:NAME=N,...]...
//
// A cell is the number of configurations, layers and regions, and what they have in the median: algorithms of cuDNN's
// graph, its older calls, kernels of ours, and "B" where cuBLASLt and cuBLAS have most of them too. Exits with 1 where
// one has none of these and no reason is named; those with a reason are listed. Some 0.3 s for each configuration. Of
// fp8 the matrix products of the model in f16 are counted, with both operands in f8e4m3 and results in bf16.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "infimum/base/file_text.h"
#include "infimum/base/text.h"
#include "infimum/measurement/plan.h"
#include "tests/app/commands/model_arguments.h"
#include "tests/app/commands/program.h"
#include "tests/support/benchmark.h"

namespace infimum::testing::gpu_candidates_benchmark {
namespace {

struct Options {
  std::string gpu = "h200";
  std::vector<std::string> contracts{"strict-f32", "tf32", "f16", "bf16", "int8", "fp8"};
  std::vector<std::string> models;
};

constexpr std::array<const char*, 3> kLibraries = {"cudnn-graph", "cudnn-legacy", "infimum"};

struct Cell {
  std::array<std::vector<std::size_t>, 3> counts;  // of each configuration, by library
  std::size_t products = 0;                        // that BLAS libraries have
  std::size_t configurations() const { return counts[0].size(); }

  std::string Text() const {
    if (configurations() == 0) return "";
    std::string text = std::to_string(configurations()) + ":";
    for (std::vector<std::size_t> sorted : counts) {
      std::ranges::nth_element(sorted, sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2));
      text += " " + std::to_string(sorted[sorted.size() / 2]);
    }
    return text + (2 * products > configurations() ? " B" : "");
  }
};

// A product of f16, as frameworks run it with 8-bit floats; nullopt of other workloads.
std::optional<Workload> OfEightBitFloats(const Workload& workload) {
  const auto* layer = std::get_if<LayerConfig>(&workload);
  const auto* product = layer == nullptr ? nullptr : std::get_if<MatMulConfig>(layer);
  if (product == nullptr || product->types.input != DataType::kF16 || product->scales.any()) return std::nullopt;
  MatMulConfig own = *product;
  own.types = {DataType::kF8E4M3, DataType::kF8E4M3, DataType::kBF16};
  return Workload(LayerConfig(own));
}

class Counter {
 public:
  explicit Counter(Options options) : options_(std::move(options)) {}

  void Add(const std::string& model, const std::string& contract) {
    std::vector<std::string> arguments = ModelArguments(model);
    arguments.insert(arguments.begin(), "plan");
    const bool is_fp8 = contract == "fp8";
    arguments.insert(arguments.end(), {"--all", "--contract", is_fp8 ? "f16" : contract, "--quiet", "-o", "m.plan"});
    if (const Ended ended = program_.Infimum(arguments); ended.exit_code != 0) {
      // A model of f32 is no model of 8-bit integers.
      std::fprintf(stderr, "%s is left out under %s: %s\n", model.c_str(), contract.c_str(), ended.errors.c_str());
      return;
    }
    const Result<std::string> text = ReadFile(program_.folder() / "m.plan");
    const Result<Plan> plan = text.ok() ? ParsePlan(*text, "m.plan") : Result<Plan>(text.error());
    if (!plan.ok()) return Fail(model, plan.error().message);
    counted_.insert(model);
    for (const PlanEntry& entry : plan->entries) {
      const std::optional<Workload> workload = is_fp8 ? OfEightBitFloats(entry.workload) : entry.workload;
      if (workload && known_.insert(contract + " " + Format(*workload)).second) Count(*workload, contract);
    }
  }

  // Whether each has a candidate or a reason.
  bool Print() const {
    std::string rule = "---|";
    for (std::size_t i = 0; i < options_.contracts.size(); ++i) rule += "---|";
    fmt::print("| family | {} |\n|{}\n", Join(options_.contracts, " | "), rule);
    for (const auto& [family, cells] : table_) {
      fmt::print("| {} |", family);
      for (const std::string& contract : options_.contracts) {
        const auto cell = cells.find(contract);
        fmt::print(" {} |", cell == cells.end() ? "" : cell->second.Text());
      }
      fmt::print("\n");
    }
    for (const auto& [reason, layers] : without_) {
      fmt::print("\nwithout a candidate, {}: {}\n", layers.size(), reason.empty() ? "NO REASON IS NAMED" : reason);
      for (const std::string& layer : layers) fmt::print("    {}\n", layer);
    }
    // A model that no contract takes was not counted at all.
    const bool is_all =
        std::ranges::all_of(options_.models, [&](const auto& model) { return counted_.contains(model); });
    return is_all && !failed_ && !without_.contains("");
  }

 private:
  void Fail(const std::string& what, const std::string& why) {
    std::fprintf(stderr, "%s: %s\n", what.c_str(), why.c_str());
    failed_ = true;
  }

  void Count(const Workload& workload, const std::string& contract) {
    const std::string layer = Format(workload);
    const Ended ended = program_.Infimum(
        {"candidates", "--device-properties", options_.gpu, "--contract", contract, "--format", "json", layer});
    const nlohmann::json list = nlohmann::json::parse(ended.output, nullptr, false);
    if (ended.exit_code != 0 || !list.is_object()) return Fail(layer, ended.errors);
    std::array<std::size_t, 3> counts{};
    for (const nlohmann::json& candidate : list.at("candidates"))
      for (std::size_t i = 0; i < kLibraries.size(); ++i) counts[i] += candidate.at("library") == kLibraries[i];
    const std::string refusal = list.at("refusal");
    const bool is_product = refusal.find("cuBLASLt and cuBLAS have the product") != std::string::npos;
    Cell& cell = table_[std::string(FamilyOf(workload))][contract];
    for (std::size_t i = 0; i < counts.size(); ++i) cell.counts[i].push_back(counts[i]);
    cell.products += is_product;
    if (list.at("candidates").empty() && !is_product) without_[refusal].insert(contract + " " + layer);
  }

  Options options_;
  ProgramTest program_;
  std::set<std::string> known_, counted_;
  std::map<std::string, std::map<std::string, Cell>> table_;  // by family, then contract
  std::map<std::string, std::set<std::string>> without_;      // by reason
  bool failed_ = false;
};

Options Parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool has_value = i + 1 < argc;
    if (argument == "--gpu" && has_value) {
      options.gpu = argv[++i];
    } else if (argument == "--contracts" && has_value) {
      options.contracts.clear();
      for (std::string_view contract : Split(argv[++i], ',')) options.contracts.emplace_back(contract);
    } else {
      options.models.push_back(argument);
    }
  }
  return options;
}

}  // namespace
}  // namespace infimum::testing::gpu_candidates_benchmark

INFIMUM_BENCHMARK(gpu_candidates, "[--gpu NAME] [--contracts C,...] MODEL[:NAME=N,...]...") {
  using namespace infimum::testing::gpu_candidates_benchmark;
  const Options options = Parse(argc, argv);
  if (options.models.empty()) return 2;
  Counter counter(options);
  for (const std::string& model : options.models)
    for (const std::string& contract : options.contracts) counter.Add(model, contract);
  return counter.Print() ? 0 : 1;
}
