// infimum export: a selection of the store's rows as a file that imports again to the same rows.
#include <fmt/format.h>

#include <memory>

#include "infimum/db/store.h"
#include "src/app/command.h"
#include "src/app/commands/store/store_transfer.h"
#include "src/app/options.h"

namespace infimum::cli {
namespace {

struct ExportOptions {
  RowSelection selection;
  std::string database = "infimum.db";
  std::string output = "-";
  ProgressLogOptions log;
};

Result<int> RunExport(const ExportOptions& options) {
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, OpenStore(options.database, OpenMode::kReadOnly));
  INFIMUM_ASSIGN_OR_RETURN(const ExportCount count, ExportRows(*store, options.selection, options.output));
  options.log.Make().Say(fmt::format("{} row{} and {} peak{} written to {}", count.rows, count.rows == 1 ? "" : "s",
                                     count.peaks, count.peaks == 1 ? "" : "s",
                                     options.output == "-" ? "standard output" : options.output));
  return kDone;
}

}  // namespace

void AddExportCommand(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* command = NewCommand(
      app, "export", "write rows of the store to a file that imports to the same rows",
      "A results journal (.jsonl), or with -o NAME.json Google Benchmark JSON, which its tools read. Without a "
      "selection\n"
      "all rows are written; each keeps the campaign that it came from. Framework runs and models are not in "
      "it:\n"
      "`infimum db merge` takes everything.",
      "infimum export --device \"Tesla V100-SXM2-16GB\" --family convolution -o v100.jsonl --db team.db");
  RowSelection& selection = options->selection;
  AddValue(command, "--device", selection.device, "NAME", "only of this device, by name or key");
  AddValue(command, "--layer", selection.layer, "TEXT", "only this layer configuration or region");
  command->add_option("--family", selection.family, "only this family: convolution, matmul, region, ...");
  AddValue(command, "--model", selection.model, "NAME", "only the layers of this model of the store");
  AddValue(command, "--library", selection.library, "NAME", "only candidates of this library");
  command->add_option("--contract", selection.contract, "only under this numeric contract");
  command->add_option("--outcome", selection.outcome, "only with this outcome")
      ->check(CLI::IsMember({"measured", "unsupported", "skipped", "failed"}));
  command->add_option("--campaign", selection.campaign, "only from this campaign, by its file's name or its key");
  AddDatabase(command, options->database);
  AddValue(command, "-o,--output", options->output, "FILE", "file to write; - for standard output");
  AddProgressLog(command, options->log);
  invocation.Bind(command, [options] { return RunExport(*options); });
}

}  // namespace infimum::cli
