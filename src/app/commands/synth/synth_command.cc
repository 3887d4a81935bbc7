// infimum synth FAMILY: models that nobody has to export, from parameters and ranges of them.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "reports/text/csv.h"
#include "reports/text/fact_text.h"
#include "reports/text/section.h"
#include "src/app/command.h"
#include "src/app/options.h"
#include "src/synth/families.h"
#include "src/synth/onnx_file.h"

namespace infimum::cli {
namespace {

namespace fs = std::filesystem;
using synth::Family;
using synth::NetTotals;
using synth::Parameter;
using synth::Point;

constexpr std::size_t kMostListed = 1'000'000, kMostWritten = 10'000;

struct SynthOptions {
  const Family* family = nullptr;
  std::map<std::string, std::string> values;  // by parameter, as given
  bool list = false;
  bool training = false;  // of a list: of a step of it
  std::optional<std::uint64_t> seed;
  bool force = false;
  std::string output;
  OutputFormat format = OutputFormat::kTable;
  ProgressLogOptions log;
};

std::int64_t MachineMemory() { return static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE); }

struct Listed {
  Point point;
  std::optional<NetTotals> totals;
  std::string refusal;  // why the point is no model, or none for this machine; empty: it is one
};

// `training`: of a step of it, in place of an inference.
Listed List(const Family& family, const Point& point, bool training) {
  Listed listed{point, std::nullopt, ""};
  const Result<synth::Net> net = MakeNet(family, point, synth::Blocks::kCounted);
  const Result<NetTotals> totals = net.ok() ? TotalsOf(*net) : Result<NetTotals>(net.error());
  if (!totals.ok()) {
    listed.refusal = totals.error().message;
    return listed;
  }
  listed.totals = *totals;
  if (training) {
    listed.totals->flops = totals->training_flops();
    listed.totals->memory = totals->training_memory;
  }
  if (listed.totals->memory.value > MachineMemory())
    listed.refusal = fmt::format("needs {} of memory, and this machine has {}", BytesText(listed.totals->memory),
                                 BytesText(Bytes{MachineMemory()}));
  return listed;
}

Section MakeTable(const Family& family, const std::vector<Listed>& points, bool is_exact) {
  Section table;
  for (const Parameter& parameter : family.parameters)
    table.columns.push_back(NumberColumn(std::string(parameter.name)));
  for (const char* const title : {"parameters", "weights", "FLOPs", "bytes", "memory"})
    table.columns.push_back(NumberColumn(title));
  table.columns.emplace_back("note");
  for (const Listed& listed : points) {
    TableRow row;
    for (const Parameter& parameter : family.parameters)
      row.emplace_back(TextOf(parameter, listed.point.at(parameter.name)));
    const auto add = [&](auto exact, auto text) {
      if (!listed.totals) {
        row.emplace_back();
      } else if (is_exact) {
        row.emplace_back(std::to_string(exact(*listed.totals)));
      } else {
        row.emplace_back(text(*listed.totals));
      }
    };
    add([](const NetTotals& of) { return of.parameters; },
        [](const NetTotals& of) { return fmt::format("{:L}", of.parameters); });
    add([](const NetTotals& of) { return of.weights.value; },
        [](const NetTotals& of) { return BytesText(of.weights); });
    add([](const NetTotals& of) { return of.flops.value; }, [](const NetTotals& of) { return FlopsText(of.flops); });
    add([](const NetTotals& of) { return of.moved.value; }, [](const NetTotals& of) { return BytesText(of.moved); });
    add([](const NetTotals& of) { return of.memory.value; }, [](const NetTotals& of) { return BytesText(of.memory); });
    row.emplace_back(listed.refusal);
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string MakeJson(const Family& family, const std::vector<Listed>& points) {
  nlohmann::ordered_json models = nlohmann::ordered_json::array();
  for (const Listed& listed : points) {
    nlohmann::ordered_json choices, model;
    for (const Parameter& parameter : family.parameters) {
      const std::int64_t value = listed.point.at(parameter.name);
      choices[std::string(parameter.name)] =
          parameter.words.empty() ? nlohmann::ordered_json(value) : nlohmann::ordered_json(TextOf(parameter, value));
    }
    model["name"] = NameOf(family, listed.point);
    model["choices"] = std::move(choices);
    if (listed.totals) {
      model["parameters"] = listed.totals->parameters;
      model["weight_bytes"] = listed.totals->weights.value;
      model["flops"] = listed.totals->flops.value;
      model["bytes"] = listed.totals->moved.value;
      model["memory_bytes"] = listed.totals->memory.value;
    }
    if (!listed.refusal.empty()) model["refused"] = listed.refusal;
    models.push_back(std::move(model));
  }
  nlohmann::ordered_json document = {{"schema", "infimum.family/1"}, {"family", family.name}, {"models", models}};
  return document.dump(2) + "\n";
}

Result<int> ListPoints(const SynthOptions& options, const std::vector<Point>& points) {
  std::vector<Listed> listed;
  listed.reserve(points.size());
  for (const Point& point : points) listed.push_back(List(*options.family, point, options.training));
  INFIMUM_RETURN_IF_ERROR(
      WriteAnswer(options.format, "-",
                  {.table = [&] { return SectionTable(MakeTable(*options.family, listed, false), TerminalWidth()); },
                   .json = [&] { return MakeJson(*options.family, listed); },
                   .csv = [&] { return SectionCsv(MakeTable(*options.family, listed, true)); }}));
  return kDone;
}

// Everything that keeps one of the files from being written, before the first is.
Status CheckPoints(const SynthOptions& options, const std::vector<Point>& points, const fs::path& folder) {
  std::error_code failed;
  const fs::space_info space = fs::space(folder, failed);
  std::int64_t left = failed ? std::numeric_limits<std::int64_t>::max() : static_cast<std::int64_t>(space.available);
  for (const Point& point : points) {
    const std::string name = NameOf(*options.family, point);
    const Listed listed = List(*options.family, point, false);
    if (!listed.totals || (!listed.refusal.empty() && !options.force))
      return Error{
          fmt::format("{}: {}{}", name, listed.refusal, listed.totals ? "; --force writes it nevertheless" : "")};
    INFIMUM_ASSIGN_OR_RETURN(const synth::Net net, MakeNet(*options.family, point, synth::Blocks::kCounted));
    const std::int64_t needed = BytesOnDisk(net, {options.seed});
    if (needed > left)
      return Error{fmt::format("{}: {} needs {} on this disk, and {} are left for it", folder.string(), name,
                               BytesText(Bytes{needed}), BytesText(Bytes{left}))};
    left -= needed;
    if (!options.force && fs::exists(folder / (name + ".onnx")))
      return Error{(folder / (name + ".onnx")).string() + " is there already; --force overwrites it"};
  }
  return {};
}

Result<int> RunSynth(const SynthOptions& options) {
  const Result<std::vector<Point>> parsed =
      PointsOf(*options.family, options.values, options.list ? kMostListed : kMostWritten);
  if (!parsed.ok()) return UsageError(parsed.error().message);
  const std::vector<Point>& points = *parsed;
  if (options.training && !options.list) return UsageError("--training goes with --list: models are for inference");
  if (options.list) return ListPoints(options, points);
  if (options.output.empty()) return UsageError("-o DIR says where the models go; --list writes none");
  ProgressLog log = options.log.Make();
  const fs::path folder = options.output;
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) return Error{folder.string() + ": cannot be made: " + failed.message()};
  INFIMUM_RETURN_IF_ERROR(CheckPoints(options, points, folder));
  for (const Point& point : points) {
    INFIMUM_ASSIGN_OR_RETURN(const synth::Net net, MakeNet(*options.family, point, synth::Blocks::kUnrolled));
    const fs::path path = folder / (net.name() + ".onnx");
    INFIMUM_RETURN_IF_ERROR(WriteOnnx(net, {options.seed}, path));
    INFIMUM_RETURN_IF_ERROR(WriteOutput("-", path.string() + "\n"));
  }
  log.Say(fmt::format("wrote {} into {}", CountText(points.size(), "model"), folder.string()));
  return kDone;
}

std::string Describe(const Parameter& parameter) {
  if (parameter.words.empty()) return std::string(parameter.what);
  std::vector<std::string> words(parameter.words.begin(), parameter.words.end());
  return fmt::format("{}: {}", parameter.what, fmt::join(words, ", "));
}

}  // namespace

void AddSynthCommand(CLI::App& app, Invocation& invocation) {
  CLI::App* synth = NewCommand(
      app, "synth", "models of a family as ONNX files, from parameters",
      "Of each parameter one value, some, or a range: 4, 4,6,8, 4..64*2 or 16..64+16. Without --seed a file has no "
      "stored\n"
      "weights: runtimes make them when they load it. --list writes nothing and says what each model needs; bytes are\n"
      "compulsory, layer by layer, memory is that of weights and of the most intermediates that live at once.",
      "infimum synth transformer --layers 4..16*2 --hidden 256,512 --heads 8 --list");
  synth->require_subcommand(1);
  for (const Family& family : synth::Families()) {
    auto options = std::make_shared<SynthOptions>();
    options->family = &family;
    CLI::App* command = NewCommand(*synth, std::string(family.name), std::string(family.what),
                                   "VALUES: one, some, or a range: 4, 4,6,8, 4..64*2 or 16..64+16.",
                                   fmt::format("infimum synth {} --batch 1..8*2 -o models", family.name));
    for (const Parameter& parameter : family.parameters) {
      const std::string name(parameter.name);
      command
          ->add_option_function<std::string>(
              "--" + name, [options, name](const std::string& text) { options->values[name] = text; },
              fmt::format("{} (default: {})", Describe(parameter), TextOf(parameter, parameter.usual)))
          ->type_name("VALUES");
    }
    command->add_flag("--list", options->list, "say what each model needs, and write none");
    command->add_flag("--training", options->training,
                      "with --list: FLOPs and memory of a training step, without an optimizer's state");
    AddValue(command, "--seed", options->seed, "N", "store random weights");
    command->add_flag("--force", options->force,
                      "overwrite files, and write models that need more memory than is here");
    AddValue(command, "-o,--output", options->output, "DIR", "folder of the models");
    AddFormat(command, options->format);
    AddProgressLog(command, options->log);
    invocation.Bind(command, [options] { return RunSynth(*options); });
  }
  AddBricksCommand(*synth, invocation);
}

}  // namespace infimum::cli
