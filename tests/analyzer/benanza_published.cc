#include "tests/analyzer/benanza_published.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "infimum/base/text.h"

namespace infimum::testing {
namespace {

namespace fs = std::filesystem;

Shape ShapeOf(const nlohmann::json& json) { return Shape{json.get<std::vector<std::int64_t>>()}; }

Latency Milliseconds(const std::string& text) {
  return std::chrono::duration<double, std::milli>(ParseNumber(text).value_or(-1));
}

}  // namespace

std::vector<std::vector<std::string>> ReadCsv(const fs::path& file) {
  std::vector<std::vector<std::string>> lines;
  std::ifstream input(file);
  for (std::string line; std::getline(input, line);) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (const char c : line) {
      if (c == '"') {
        quoted = !quoted;
      } else if (c == ',' && !quoted) {
        cells.emplace_back();
      } else if (c != '\r') {
        cells.back() += c;
      }
    }
    lines.push_back(std::move(cells));
  }
  return lines;
}

std::vector<std::map<std::string, std::string>> ReadTable(const fs::path& file) {
  std::vector<std::map<std::string, std::string>> rows;
  const std::vector<std::vector<std::string>> lines = ReadCsv(file);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    std::map<std::string, std::string>& row = rows.emplace_back();
    for (std::size_t k = 0; k < std::min(lines[0].size(), lines[i].size()); ++k) row[lines[0][k]] = lines[i][k];
  }
  return rows;
}

std::vector<PublishedLayer> ReadLayerStats(const fs::path& file) {
  std::vector<PublishedLayer> layers;
  std::ifstream input(file);
  const nlohmann::json list = nlohmann::json::parse(input, nullptr, /*allow_exceptions=*/false);
  if (!list.is_array()) return layers;
  for (const nlohmann::json& json : list) {
    if (json.at("type") == "ConstantInput") continue;
    PublishedLayer& published = layers.emplace_back();
    published.name = json.at("name");
    published.layer.op = json.at("type");
    published.layer.inputs = json.at("inputs").get<std::vector<std::string>>();
    published.layer.outputs = json.at("outputs").get<std::vector<std::string>>();
    published.layer.has_bias_row = published.layer.op == "Conv" && published.layer.inputs.size() == 3;
    const nlohmann::json& shapes = json.at("input_dimensions");
    for (const nlohmann::json& shape : shapes.at("input_shapes")) published.input_shapes.push_back(ShapeOf(shape));
    published.output_shape = ShapeOf(shapes.at("output_shapes").at(0));
  }
  return layers;
}

PublishedTotal ReadLatencyCsv(const fs::path& file) {
  PublishedTotal published;
  const std::vector<std::vector<std::string>> lines = ReadCsv(file);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string>& cells = lines[i];
    if (cells.size() < 4) continue;
    if (cells[2] == "Total") {
      published.total = Milliseconds(cells[3]);
    } else {
      published.rows.push_back({cells[0], cells[2].starts_with("ADD_TENSOR"),
                                cells[2].starts_with("CONV_BIAS_ACTIVATION_FWD"), Milliseconds(cells[3])});
    }
  }
  return published;
}

std::vector<BenanzaLayer> WithTimes(const std::vector<PublishedLayer>& layers, const std::vector<PublishedRow>& rows,
                                    int& unused) {
  std::vector<BenanzaLayer> timed;
  std::map<std::string, std::vector<std::size_t>> by_name;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    timed.push_back(layers[i].layer);
    by_name[layers[i].name].push_back(i);
  }
  for (const PublishedRow& row : rows) {
    bool placed = false;
    for (const std::size_t i : by_name[row.layer]) {
      std::optional<Latency>& place = row.bias ? timed[i].bias : timed[i].forward;
      if (place || (row.bias && !timed[i].has_bias_row)) continue;
      place = row.time;
      // One call for both has no bias row beside it.
      if (row.fused) timed[i].has_bias_row = false;
      placed = true;
      break;
    }
    unused += placed ? 0 : 1;
  }
  return timed;
}

}  // namespace infimum::testing
