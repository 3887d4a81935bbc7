#include "infimum/layer/layer_config.h"

#include <algorithm>
#include <array>

#include "infimum/base/text.h"
#include "src/core/layer/family.h"
#include "src/core/layer/field_text.h"

namespace infimum {
namespace {

template <class Config>
Result<LayerConfig> ParseFields(std::string_view text, std::size_t column) {
  Config config;
  FieldNames known;
  Config::VisitFields(config, known);
  const std::string_view fields_text = text.substr(std::min(text.size(), Config::kName.size() + 1));
  const std::size_t fields_column = column + Config::kName.size() + 1;
  std::vector<Field> fields;
  if (text.size() > Config::kName.size()) {  // not even a space follows: all fields are missing
    INFIMUM_ASSIGN_OR_RETURN(fields, SplitFields(Config::kName, known.names(), fields_text, fields_column));
  }
  FieldReader reader(Config::kName, std::move(fields), column + text.size());
  Config::VisitFields(config, reader);
  INFIMUM_RETURN_IF_ERROR(reader.status());
  if (Status status = Validate(config); !status.ok()) return Within(std::to_string(column), status.error());
  return LayerConfig(std::move(config));
}

struct Family {
  std::string_view name;
  Result<LayerConfig> (*parse)(std::string_view text, std::size_t column);
};

template <class... Configs>
constexpr std::array<Family, sizeof...(Configs)> FamiliesOf(const std::variant<Configs...>*) {
  return {Family{Configs::kName, &ParseFields<Configs>}...};
}
constexpr auto kFamilies = FamiliesOf(static_cast<const LayerConfig*>(nullptr));

}  // namespace

std::string Format(const LayerConfig& config) {
  return std::visit(
      []<class Config>(const Config& family) {
        FieldWriter writer;
        Config::VisitFields(family, writer);
        return std::string(Config::kName) + writer.text();
      },
      config);
}

Result<LayerConfig> ParseLayerConfig(std::string_view text) { return ParseLayerConfigAt(text, 1); }

Result<LayerConfig> ParseLayerConfigAt(std::string_view text, std::size_t column) {
  const std::string_view name = text.substr(0, text.find(' '));
  std::vector<std::string_view> names;
  for (const Family& family : kFamilies) {
    if (family.name == name) return family.parse(text, column);
    names.push_back(family.name);
  }
  const std::string where = std::to_string(column);
  if (name.empty())
    return Within(where, Error{"expected a layer, such as 'pointwise kind=relu dtype=f32:-:f32 in=64'"});
  return Within(where, Error{"unknown layer family " + Quoted(name) + DidYouMean(name, names)});
}

std::string_view FamilyOf(const LayerConfig& config) {
  return std::visit([]<class Config>(const Config&) { return Config::kName; }, config);
}

Status Validate(const LayerConfig& config) {
  return std::visit([](const auto& family) { return Validate(family); }, config);
}

Work WorkOf(const LayerConfig& config) {
  return std::visit([](const auto& family) { return WorkOf(family); }, config);
}

const OperandTypes& TypesOf(const LayerConfig& config) {
  return std::visit([](const auto& family) -> const OperandTypes& { return family.types; }, config);
}

std::vector<Operand> OperandsOf(const LayerConfig& config) {
  return std::visit([](const auto& family) { return OperandsOfFamily(family); }, config);
}

std::vector<Operand> OutputsOf(const LayerConfig& config) {
  return std::visit([](const auto& family) { return OutputsOfFamily(family); }, config);
}

}  // namespace infimum
