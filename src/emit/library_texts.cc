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

std::string_view CudaRunning() {
  return "It runs on the first GPU that CUDA shows; without one it says so and ends. `--tier "
         "heuristic|engine|exhaustive`\n"
         "says how many candidates are looked for: what the library would choose, and its next best, in the usual "
         "form; its\n"
         "best ones in every form (the default); every setting that it takes, at most 1,000 for each form. `--list` "
         "prints\n"
         "their names. A benchmark's name is the layer and the candidate, its label the candidate, the layouts of "
         "inputs and\n"
         "output, and the numeric contract. The time is what one more launch costs, by the difference of two CUDA "
         "graphs\n"
         "(`cuda_timing.h`), inputs are random, caches are warm, clocks are as they are: `nvidia-smi "
         "--lock-gpu-clocks` takes\n"
         "much of the noise away. What the library refuses or fails at is an error of that benchmark alone. Results "
         "are not\n"
         "checked: that is the reader's, who changes the code, or infimum's, whose runner compares them with a "
         "reference.\n";
}

}  // namespace infimum::emit
