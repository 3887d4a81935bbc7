// A sweep for a terminal and as Markdown; its cells as CSV; all of it as JSON.
#include <fmt/format.h>

#include <set>

#include "infimum/base/text.h"
#include "reports/sweep/sweep_report.h"
#include "reports/text/csv.h"
#include "reports/text/json_values.h"
#include "reports/text/markdown.h"
#include "reports/text/terminal_text.h"

namespace infimum {

// Beside their types, where JSON's writer finds them.
static void to_json(OrderedJson& json, const CellFacts& facts) {
  json = {{"parameters", facts.parameters}, {"flops", facts.flops},
          {"bytes", facts.bytes},           {"weight_bytes", facts.weights},
          {"memory_bytes", facts.memory},   {"floor_us", facts.floor},
          {"input_bytes", facts.inputs},    {"decided_by", TextOrNull(facts.decided_by)}};
}

static void to_json(OrderedJson& json, const KnownTime& known) {
  json = {{"latency_us", known.latency}, {"interval_us", known.between}, {"measured_share", known.measured}};
}

// A GPU has no threads to be said.
static std::map<std::string, std::string> FieldsShown(const SweepCell& cell) {
  std::map<std::string, std::string> fields = cell.fields;
  if (cell.kind == DeviceKind::kGpu) fields.erase("threads");
  return fields;
}

static void to_json(OrderedJson& json, const SweepCell& cell) {
  json = {{"hash", TextOrNull(cell.hash)},
          {"name", cell.name},
          {"conditions", cell.conditions},
          {"device", cell.device},
          {"fields", FieldsShown(cell)},
          {"state", cell.state},
          {"reason", TextOrNull(cell.reason)},
          {"facts", cell.facts},
          {"roofline_us", cell.roofline},
          {"launches_us", cell.launches},
          {"known", cell.known},
          {"latency_us", cell.time},
          {"interval_us", cell.time ? OrderedJson(cell.between) : OrderedJson(nullptr)},
          {"utilization", cell.utilization()},
          {"measured_at", TextOrNull(cell.measured_at)},
          {"framework_version", TextOrNull(cell.framework_version)}};
}

static void to_json(OrderedJson& json, const SweepAxis& axis) {
  json = {{"field", axis.field}, {"numeric", axis.is_numeric}, {"values", axis.values}};
}

static void to_json(OrderedJson& json, const Sensitivity& found) {
  json = {{"cells", found.cells},
          {"r_squared", found.r_squared},
          {"axes", OrderedJson::array()},
          {"left_out", found.left_out}};
  for (const Sensitivity::Axis& axis : found.axes)
    json["axes"].push_back({{"field", axis.field}, {"numeric", axis.is_numeric}, {"share", axis.share}});
}

// Places without anything are left out.
static void to_json(OrderedJson& json, const SweepMap& map) {
  json = {{"x", map.x.field}, {"y", map.y.field}, {"places", OrderedJson::array()}};
  for (std::size_t row = 0; row < map.y.values.size(); ++row)
    for (std::size_t column = 0; column < map.x.values.size(); ++column) {
      const MapPlace& place = map.at(row, column);
      if (!place.value) continue;
      json["places"].push_back({{"x", map.x.values[column]},
                                {"y", map.y.values[row]},
                                {"cells", place.cells},
                                {"value", place.value},
                                {"decided_by", TextOrNull(place.word)},
                                {"verdict", place.verdict}});
    }
}

namespace {

// Rows of a table that lists cells: a screen, and what a reader of a pull request still reads.
constexpr std::size_t kCellsOnScreen = 10, kCellsInMarkdown = 25;

std::string SweepDataAsOf(const SweepReport& report) {
  return report.data_as_of.empty() ? "Written" : "Data of " + report.data_as_of + ", written";
}

// Indices of all the report's cells.
OrderedJson DeviceJson(const DeviceSweep& device) {
  const auto shifted = [&](const std::vector<std::size_t>& indices) {
    OrderedJson json = OrderedJson::array();
    for (const std::size_t index : indices) json.push_back(device.begin + index);
    return json;
  };
  const auto one = [&](const std::optional<std::size_t>& index) {
    return index ? OrderedJson(device.begin + *index) : OrderedJson(nullptr);
  };
  OrderedJson ranks = OrderedJson::object(), inversions = OrderedJson::array(), memory = OrderedJson::array();
  for (const RankCorrelation& rank : device.ranks)
    ranks[std::string(Name(rank.size))] = {{"cells", rank.cells}, {"spearman", rank.rho}};
  for (const RankInversion& inversion : device.inversions.worst)
    inversions.push_back({{"slow", device.begin + inversion.slow},
                          {"fast", device.begin + inversion.fast},
                          {"at_least_times", inversion.times}});
  if (device.memory)
    for (const MemoryFrontier::Row& row : device.memory->rows)
      memory.push_back({{"value", row.value}, {"fits", one(row.fits)}, {"does_not", one(row.does_not)}});
  return {{"device", device.device},
          {"cells", device.count},
          {"measured", device.measured},
          {"utilization", device.utilization},
          {"utilization_map", device.utilization_map},
          {"floor_map", device.floor_map},
          {"memory_frontier",
           {{"field", device.memory ? OrderedJson(device.memory->field) : OrderedJson(nullptr)},
            {"rows", std::move(memory)}}},
          {"pareto", {{"parameters", shifted(device.by_parameters)}, {"flops", shifted(device.by_flops)}}},
          {"rank_correlations", std::move(ranks)},
          {"inverted_pairs", device.inversions.pairs},
          {"inversions", std::move(inversions)}};
}

OrderedJson SpeedUpJson(const SpeedUps& ups, const std::optional<SweepMap>& map) {
  OrderedJson pairs = OrderedJson::array();
  for (const SweepPair& pair : ups.pairs)
    pairs.push_back({{"from", pair.from},
                     {"to", pair.to},
                     {"ratio", pair.difference.ratio},
                     {"between", {pair.difference.between.low, pair.difference.between.high}},
                     {"spread_known", pair.difference.is_spread_known},
                     {"verdict", pair.difference.verdict}});
  return {{"field", ups.field},
          {"from", ups.from},
          {"to", ups.to},
          {"of", ups.quantity == SweepQuantity::kTime ? "time" : "floor"},
          {"mean_ratio", ups.mean},
          {"pairs", std::move(pairs)},
          {"map", map}};
}

}  // namespace

std::string SweepText(const SweepReport& report, std::size_t width) {
  std::string out = IndentedText("", SweepHeadline(report), 0, width);
  for (const Section& section : SweepSections(report, kCellsOnScreen)) out += '\n' + SectionText(section, width);
  if (!report.remarks.empty()) out += '\n';
  for (const std::string& remark : report.remarks) out += IndentedText("note: ", remark, 2, width);
  return out;
}

std::string SweepMarkdown(const SweepReport& report) {
  std::string out = fmt::format("# {}\n\n{}\n", MarkdownProse(report.name), MarkdownProse(SweepHeadline(report)));
  for (const Section& section : SweepSections(report, kCellsInMarkdown)) out += SectionMarkdown(section);
  if (!report.remarks.empty()) out += "\n## What this rests on\n\n";
  for (const std::string& remark : report.remarks) out += fmt::format("- {}\n", MarkdownProse(remark));
  return out + fmt::format("\n{} by infimum {}.\n", MarkdownProse(SweepDataAsOf(report)),
                           MarkdownProse(report.infimum_version));
}

std::string SweepCsv(const SweepReport& report) {
  std::set<std::string> fields;
  for (const SweepCell& cell : report.cells)
    for (const auto& [field, value] : FieldsShown(cell)) fields.insert(field);
  fields.erase("device");
  Section section{.columns = {"hash", "name", "device"}};
  for (const std::string& field : fields) section.columns.emplace_back(field);
  for (const char* title : {"state", "reason", "latency_us", "low_us", "high_us", "floor_us", "roofline_us", "known_us",
                            "known_share", "utilization", "decided_by", "parameters", "flops", "bytes", "weight_bytes",
                            "memory_bytes", "input_bytes", "measured_at", "framework_version"})
    section.columns.emplace_back(title);
  const auto count = [](const auto& quantity) { return quantity ? std::to_string(quantity->value) : std::string(); };
  for (const SweepCell& cell : report.cells) {
    TableRow& row = section.rows.emplace_back(TableRow{cell.hash, cell.name, cell.device});
    const std::map<std::string, std::string> shown = FieldsShown(cell);
    for (const std::string& field : fields) {
      const auto found = shown.find(field);
      row.emplace_back(found == shown.end() ? "" : found->second);
    }
    const CellFacts& facts = cell.facts;
    const std::optional<Interval> between = cell.time ? std::optional(cell.between) : std::nullopt;
    const std::optional<double> share = cell.utilization();
    for (const std::string& text :
         {std::string(cell.state ? Name(*cell.state) : ""), cell.reason, CsvTime(cell.time), CsvLow(between),
          CsvHigh(between), CsvTime(facts.floor), CsvTime(cell.roofline),
          CsvTime(cell.known ? std::optional(cell.known->latency) : std::nullopt),
          cell.known ? FormatNumber(cell.known->measured) : "", share ? FormatNumber(*share) : "", facts.decided_by,
          facts.parameters ? std::to_string(*facts.parameters) : "", count(facts.flops), count(facts.bytes),
          count(facts.weights), count(facts.memory), count(facts.inputs), cell.measured_at, cell.framework_version})
      row.emplace_back(text);
  }
  return SectionCsv(section);
}

std::string SweepJson(const SweepReport& report) {
  OrderedJson devices = OrderedJson::array(), speed_ups = OrderedJson::array();
  for (const DeviceSweep& device : report.devices) devices.push_back(DeviceJson(device));
  for (std::size_t i = 0; i < report.speed_ups.size(); ++i)
    speed_ups.push_back(SpeedUpJson(report.speed_ups[i], report.speed_up_maps[i]));
  const OrderedJson document = {{"schema", "infimum.sweep/1"},
                                {"infimum_version", report.infimum_version},
                                {"data_as_of", TextOrNull(report.data_as_of)},
                                {"name", report.name},
                                {"description", TextOrNull(report.description)},
                                {"headline", SweepHeadline(report)},
                                {"quantity", report.quantity == SweepQuantity::kTime ? "time" : "floor"},
                                {"threshold", report.threshold},
                                {"x", TextOrNull(report.x)},
                                {"y", TextOrNull(report.y)},
                                {"axes", report.axes},
                                {"sensitivity", report.sensitivity},
                                {"devices", std::move(devices)},
                                {"speed_ups", std::move(speed_ups)},
                                {"cells", report.cells},
                                {"remarks", report.remarks}};
  return DumpJson(document, 1) + '\n';
}

}  // namespace infimum
