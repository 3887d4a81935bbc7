// infimum inspect MODEL: layers, configurations, FLOPs and bytes; what is free and why; what is unknown.
#include <memory>

#include "reports/inspect/inspect.h"
#include "src/app/command.h"
#include "src/app/options.h"
#include "src/readers/onnx/read_model.h"

namespace infimum::cli {
namespace {

struct InspectOptions {
  std::string model;
  DimOptions dims;
  bool regions = false;
  InspectView view;
  std::string by = "layer";
  OutputFormat format = OutputFormat::kTable;
  std::string output = "-";
};

Result<int> RunInspect(const InspectOptions& options) {
  INFIMUM_RETURN_IF_ERROR(CheckWritable(options.output));
  ReadOptions read;
  INFIMUM_ASSIGN_OR_RETURN(read.dims, options.dims.Parse());
  INFIMUM_ASSIGN_OR_RETURN(const ModelGraph graph, ReadModel(options.model, read));
  InspectView view = options.view;
  view.by_family = options.by == "family";
  INFIMUM_RETURN_IF_ERROR(WriteAnswer(options.format, options.output,
                                      {.table =
                                           [&] {
                                             return options.regions ? RegionsTable(graph, TerminalWidth())
                                                                    : InspectTable(graph, TerminalWidth(), view);
                                           },
                                       .json = [&] { return InspectJson(graph); },
                                       .csv = [&] { return InspectCsv(graph); }}));
  return kDone;
}

}  // namespace

void AddInspectCommand(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App* command = NewCommand(
      app, "inspect", "a model's layers, configurations, FLOPs and bytes",
      "Each layer is measurable (it has a layer configuration), free (a view or folded, with the reason) or unknown\n"
      "(listed with the reason). Multiply-adds count as two FLOPs; bytes are compulsory, each element once.",
      "infimum inspect resnet50.onnx --dim batch=8 --format json");
  AddModel(command, options->model);
  AddDims(command, options->dims);
  command->add_flag("--regions", options->regions, "as a table: the regions that may be fused, in place of the layers");
  command->add_flag("--all", options->view.with_free, "as a table: also layers that cost nothing, with the reason");
  AddValue(command, "--top", options->view.largest, "N", "as a table: so many layers with the most bytes, most first")
      ->check(Count());
  AddValue(command, "--by", options->by, "WHAT", "as a table: layer, or sums of each family")
      ->check(CLI::IsMember({"layer", "family"}))
      ->capture_default_str();
  AddFormat(command, options->format);
  AddValue(command, "-o,--output", options->output, "FILE", "file to write; - for standard output");
  invocation.Bind(command, [options] { return RunInspect(*options); });
}

}  // namespace infimum::cli
