#include "src/readers/profiles/alignment_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "infimum/base/text.h"
#include "src/core/results/json_struct.h"
#include "src/readers/files/json_document.h"

namespace infimum {
namespace {

constexpr std::string_view kAlignmentSchema = "infimum.alignment/1";

// Every key of the object is one of these: a misspelt key would be ignored otherwise.
Status CheckKeys(const Json& object, std::span<const std::string_view> known) {
  for (const auto& [key, value] : object.items())
    if (std::ranges::find(known, key) == known.end())
      return Error{"unknown field " + Quoted(key) + DidYouMean(key, known)};
  return {};
}

Result<AlignmentOverride> ReadRow(const Json& json) {
  constexpr std::array<std::string_view, 2> kKeys = {"engine_layers", "nodes"};
  if (!json.is_object()) return Error{"not an object with 'engine_layers' and 'nodes'"};
  INFIMUM_RETURN_IF_ERROR(CheckKeys(json, kKeys));
  AlignmentOverride row;
  JsonReader fields(json);
  fields.Lenient("engine_layers", row.engine_layers);
  fields.Lenient("nodes", row.nodes);
  if (!fields.status().ok()) return fields.status().error();
  if (row.engine_layers.empty()) return Error{"'engine_layers' is missing or empty; name at least one"};
  if (!json.contains("nodes"))
    return Error{"'nodes' is missing; an empty list marks engine layers that compute none of the model's nodes"};
  return row;
}

Result<std::vector<AlignmentOverride>> ReadRows(const Json& document, std::string_view origin) {
  constexpr std::array<std::string_view, 2> kKeys = {"schema", "rows"};
  if (!document.is_object()) return Error{"not a JSON object"};
  INFIMUM_RETURN_IF_ERROR(CheckSchema(document, kAlignmentSchema));
  INFIMUM_RETURN_IF_ERROR(CheckKeys(document, kKeys));
  const auto rows = document.find("rows");
  if (rows == document.end() || !rows->is_array()) return Error{"'rows' is not a list"};
  std::vector<AlignmentOverride> overrides;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const std::string place = fmt::format("row {}", i + 1);
    Result<AlignmentOverride> row = ReadRow((*rows)[i]);
    if (!row) return Within(place, row.error());
    row->origin = fmt::format("{}: {}", origin, place);
    overrides.push_back(*std::move(row));
  }
  return overrides;
}

}  // namespace

Result<std::vector<AlignmentOverride>> ReadAlignmentFile(std::istream& input, std::string_view origin) {
  INFIMUM_ASSIGN_OR_RETURN(const std::string text, ingest::ReadWhole(input, origin));
  INFIMUM_ASSIGN_OR_RETURN(const Json document, ingest::ParseDocument(text, origin));
  return Within(std::string(origin), ReadRows(document, origin));
}

}  // namespace infimum
