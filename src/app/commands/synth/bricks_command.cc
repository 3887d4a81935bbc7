// infimum synth bricks MODEL...: layers, blocks or fused regions of models as stand-alone ONNX files.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "infimum/base/text.h"
#include "infimum/base/utf8.h"
#include "reports/text/csv.h"
#include "reports/text/fact_text.h"
#include "reports/text/section.h"
#include "src/app/command.h"
#include "src/app/options.h"
#include "src/synth/brick_file.h"

namespace infimum::cli {
namespace {

namespace fs = std::filesystem;
using synth::Brick;
using synth::BrickSource;
using synth::BrickUse;

struct BricksOptions {
  std::vector<std::string> models;
  DimOptions dims;
  synth::Cut cut;
  synth::BrickOptions brick;
  std::string weights;
  bool list = false;
  bool force = false;
  std::string output;
  OutputFormat format = OutputFormat::kTable;
  ProgressLogOptions log;
};

// Names of files may tell what a model is.
std::vector<std::string> ModelNames(const std::vector<BrickSource>& models, bool anonymize) {
  std::vector<std::string> names;
  for (const BrickSource& model : models)
    names.push_back(!anonymize           ? Printable(model.name())
                    : models.size() == 1 ? "model"
                                         : fmt::format("model-{}", names.size() + 1));
  return names;
}

std::string LayersText(const BrickUse& use, bool anonymize) {
  if (anonymize) return CountText(use.layers.size(), "layer");
  return Printable(use.layers.front()) + (use.layers.size() > 1 ? fmt::format(" (+{})", use.layers.size() - 1) : "");
}

Section BrickTable(const std::vector<Brick>& bricks, const std::vector<std::string>& models, bool anonymize,
                   bool is_exact) {
  Section table;
  table.columns = {NameColumn("brick"),   NumberColumn("times"), NumberColumn("FLOPs"),
                   NumberColumn("bytes"), NumberColumn("file"),  NameColumn("models"),
                   NameColumn("first"),   NameColumn("note"),    NameColumn("text")};
  for (const Brick& brick : bricks) {
    std::string uses;
    for (const BrickUse& use : brick.uses)
      uses += fmt::format("{}{} x{}", uses.empty() ? "" : ", ", models[use.model], use.count);
    const auto size = static_cast<std::int64_t>(brick.file.size());
    TableRow row;
    row.emplace_back(brick.name);
    row.emplace_back(std::to_string(brick.count()));
    row.emplace_back(is_exact ? std::to_string(brick.flops.value) : FlopsText(brick.flops));
    row.emplace_back(is_exact ? std::to_string(brick.moved.value) : BytesText(brick.moved));
    row.emplace_back(size == 0 ? "" : is_exact ? std::to_string(size) : BytesText(Bytes{size}));
    row.emplace_back(uses);
    row.emplace_back(LayersText(brick.uses.front(), anonymize));
    row.emplace_back(brick.left_out.empty() ? "" : "left out: " + brick.left_out);
    row.emplace_back(Printable(brick.text));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string BrickJson(const std::vector<Brick>& bricks, const std::vector<std::string>& models, bool anonymize) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Brick& brick : bricks) {
    nlohmann::ordered_json one = {{"name", brick.name},
                                  {"text", ValidUtf8(brick.text)},
                                  {"times", brick.count()},
                                  {"flops", brick.flops.value},
                                  {"bytes", brick.moved.value}};
    for (const BrickUse& use : brick.uses) {
      nlohmann::ordered_json model = {{"model", models[use.model]}, {"times", use.count}};
      if (!anonymize)
        for (const std::string& layer : use.layers) model["layers"].push_back(ValidUtf8(layer));
      one["models"].push_back(std::move(model));
    }
    if (brick.left_out.empty())
      one["file_bytes"] = brick.file.size();
    else
      one["left_out"] = ValidUtf8(brick.left_out);
    list.push_back(std::move(one));
  }
  return nlohmann::ordered_json{{"schema", "infimum.bricks/1"}, {"bricks", list}}.dump(2) + "\n";
}

Status WriteBricks(const BricksOptions& options, const std::vector<Brick>& bricks, ProgressLog& log) {
  const fs::path folder = options.output;
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) return Error{folder.string() + ": cannot be made: " + failed.message()};
  const auto path_of = [&](const Brick& brick) { return folder / (brick.name + ".onnx"); };
  for (const Brick& brick : bricks)
    if (!options.force && brick.left_out.empty() && fs::exists(path_of(brick)))
      return Error{path_of(brick).string() + " is there already; --force overwrites it"};
  std::size_t written = 0;
  for (const Brick& brick : bricks) {
    if (!brick.left_out.empty()) continue;
    INFIMUM_RETURN_IF_ERROR(WriteOutput(path_of(brick).string(), brick.file));
    ++written;
  }
  log.Say(fmt::format("wrote {} into {}", CountText(written, "brick"), folder.string()));
  return {};
}

Result<int> RunBricks(BricksOptions options) {
  constexpr std::string_view kSeed = "seed:";
  if (options.weights.starts_with(kSeed)) {
    const std::optional<std::int64_t> seed = ParseInteger(options.weights.substr(kSeed.size()));
    if (!seed || *seed < 0) return UsageError("--weights seed:N: N is no seed, which is a whole number");
    options.brick.seed = static_cast<std::uint64_t>(*seed);
  } else if (options.weights == "model") {
    options.brick.own_weights = true;
  } else if (!options.weights.empty() && options.weights != "made") {
    return UsageError("--weights " + Quoted(options.weights) + ": made, model or seed:N");
  }
  if (options.output.empty() && !options.list) return UsageError("-o DIR says where the bricks go; --list writes none");
  ProgressLog log = options.log.Make();
  INFIMUM_ASSIGN_OR_RETURN(const auto dims, options.dims.Parse());
  std::vector<BrickSource> models;
  for (const std::string& path : options.models) {
    INFIMUM_ASSIGN_OR_RETURN(BrickSource model, BrickSource::Open(path, dims));
    models.push_back(std::move(model));
  }
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<Brick> bricks, CollectBricks(models, options.cut, options.brick));
  if (!options.list) INFIMUM_RETURN_IF_ERROR(WriteBricks(options, bricks, log));
  const std::vector<std::string> names = ModelNames(models, options.brick.anonymize);
  const bool anonymize = options.brick.anonymize;
  const auto left_out = std::ranges::count_if(bricks, [](const Brick& brick) { return !brick.left_out.empty(); });
  if (left_out > 0)
    log.Warn(
        fmt::format("{} of {} cannot stand alone: the list says why", left_out, CountText(bricks.size(), "brick")));
  INFIMUM_RETURN_IF_ERROR(
      WriteAnswer(options.format, "-",
                  {.table = [&] { return SectionTable(BrickTable(bricks, names, anonymize, false), TerminalWidth()); },
                   .json = [&] { return BrickJson(bricks, names, anonymize); },
                   .csv = [&] { return SectionCsv(BrickTable(bricks, names, anonymize, true)); }}));
  return kDone;
}

}  // namespace

void AddBricksCommand(CLI::App& synth, Invocation& invocation) {
  auto options = std::make_shared<BricksOptions>();
  CLI::App* command = NewCommand(
      synth, "bricks", "layers, blocks or fused regions of models as stand-alone ONNX files",
      "What has the same configuration is one file, however often and in whichever of the models it is; the list says "
      "how often.\n"
      "Weights are made as a file is loaded, so that it has some KiB: --weights seed:N stores random ones, alike in "
      "all bricks of a\n"
      "model, --weights model its own.",
      "infimum synth bricks resnet50.onnx --dim batch=8 --cut fused -o bricks");
  command->add_option("MODEL", options->models, "ONNX files")->required();
  AddDims(command, options->dims);
  AddCut(command, options->cut, "a brick for each layer");
  command->get_option("--block")->excludes(
      AddValue(command, "--layer", options->cut.layer, "NAME", "of this layer alone"));
  command->get_option("--cut")->excludes(command->get_option("--layer"));
  AddValue(command, "--weights", options->weights, "W", "made (the default), seed:N or model");
  command->add_flag("--anonymize", options->brick.anonymize,
                    "no name, text or metadata of the models in files and list");
  command->add_flag("--list", options->list, "say what there is, and write none");
  command->add_flag("--force", options->force, "overwrite files");
  AddValue(command, "-o,--output", options->output, "DIR", "folder of the bricks");
  AddFormat(command, options->format);
  AddProgressLog(command, options->log);
  invocation.Bind(command, [options] { return RunBricks(*options); });
}

}  // namespace infimum::cli
