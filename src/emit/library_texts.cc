#include "src/emit/library_texts.h"

#include <fmt/format.h>

#include "infimum/base/text.h"
#include "src/emit/source_text.h"

namespace infimum::emit {

std::string SourceOpening(std::string_view layer, std::string_view version,
                          const std::vector<std::string_view>& headers) {
  std::string text =
      fmt::format("{}//\n// Written by infimum {}, yours to change. README.md says how to build and run it.\n",
                  Comment(layer), version);
  for (const std::string_view header : headers) text += fmt::format("#include \"{}\"\n", header);
  return text + "\n";
}

std::string LayerConstant(std::string_view layer) {
  return "constexpr char kLayer[] =\n" + BrokenLiteral(layer, 4) + ";\n\n";
}

std::string ListLines(const std::vector<std::string>& entries) {
  std::string text;
  for (const std::string& entry : entries) text += "        " + entry + ",\n";
  return text;
}

std::string OnlyLines(const std::vector<std::string>& candidates) {
  if (candidates.empty()) return "";
  std::vector<std::string> names;
  for (const std::string& name : candidates) names.push_back(StringLiteral(name));
  return "    .only = {\n" + ListLines(names) + "    },\n";
}

std::string ContractList(const std::vector<NumericContract>& contracts) {
  std::vector<std::string> names;
  for (const NumericContract contract : contracts) names.push_back(StringLiteral(Name(contract)));
  return "{" + Join(names, ", ") + "}";
}

Region RegionWithConstants(const Workload& workload) {
  if (const auto* region = std::get_if<Region>(&workload)) return *region;
  RegionMember member{std::get<LayerConfig>(workload), {}};
  std::int64_t inputs = 0, constants = 0;
  for (const Operand& operand : OperandsOf(member.config)) {
    if (operand.constant) {
      member.operands.push_back({RegionOperand::Source::kWeight, constants++});
    } else {
      member.operands.push_back({RegionOperand::Source::kInput, inputs++});
    }
  }
  return {{std::move(member)}, {0}};
}

std::string RefusalOfConstants(std::string_view algorithm) {
  return algorithm.starts_with("as-matmul/") ? "a product with a constant of infimum's own, which is not emitted" : "";
}

std::string_view CudaRunning() {
  return R"(It runs on the first GPU that CUDA shows; without one it says so and ends. `--tier heuristic|engine|exhaustive` says
how many candidates are looked for: what the library would choose, and its next best, in the usual form; the best
setting of each algorithm in every form (the default); every setting that it takes, at most 1,000 for each form.
`--list` prints their names. A benchmark's name is the layer and the candidate, its label the candidate, the layouts
of inputs and output, and the numeric contract. The time is what one more launch costs, by the difference of two
CUDA graphs (`cuda_timing.h`), inputs are random, caches are warm, clocks are as they are: `nvidia-smi
--lock-gpu-clocks` takes much of the noise away. What the library refuses or fails at is an error of that benchmark
alone. Results are not checked: infimum's runner compares them with a reference.
)";
}

}  // namespace infimum::emit
