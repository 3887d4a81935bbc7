#include "src/readers/benchmarks/scope_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "infimum/base/text.h"

namespace infimum::ingest {
namespace {

constexpr std::string_view kPrefix = "LAYER_";
constexpr std::string_view kBatch = "__BatchSize_";
constexpr std::size_t kMostArguments = 64;

bool IsScopeDigit(char c) { return c >= '0' && c <= '9'; }

// Capitals, digits and underscores: what C's macros and scope's types are made of.
bool IsWord(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return (c >= 'A' && c <= 'Z') || IsScopeDigit(c) || c == '_'; });
}

Error At(std::size_t offset, std::string_view expected) {
  return Error{fmt::format("column {}: expected {}", offset + 1, expected)};
}

std::size_t SkipDigits(std::string_view name, std::size_t at) {
  while (at < name.size() && IsScopeDigit(name[at])) ++at;
  return at;
}

// "CUDNN_CONV_FWD_0_FLOAT32" into API and type.
Status ReadHead(std::string_view head, ScopeName& result) {
  const std::size_t last = head.rfind('_');
  if (!IsWord(head) || last == std::string_view::npos || last == 0 || last + 1 == head.size())
    return At(kPrefix.size(), "an API and an element type, such as CUDNN_CONV_FWD_FLOAT32");
  result.type = head.substr(last + 1);
  std::string_view api = head.substr(0, last);
  if (api.size() > 2 && api[api.size() - 2] == '_' && IsScopeDigit(api.back())) api.remove_suffix(2);
  result.api = api;
  return {};
}

// Pieces without a colon ("manual_time") and values that are no whole numbers ("min_time:0.500") are Google
// Benchmark's.
Status ReadArguments(std::string_view name, std::size_t at, ScopeName& result) {
  for (const std::string_view piece : Split(name.substr(at), '/')) {
    const std::size_t colon = piece.find(':');
    const std::optional<std::int64_t> value =
        colon == std::string_view::npos ? std::nullopt : ParseInteger(piece.substr(colon + 1));
    if (value) {
      if (colon == 0) return At(at, "an argument's name before ':'");
      if (!result.arguments.emplace(piece.substr(0, colon), *value).second)
        return At(at, fmt::format("no second {}", Quoted(piece.substr(0, colon))));
      if (result.arguments.size() > kMostArguments) return At(at, fmt::format("at most {} arguments", kMostArguments));
    }
    at += piece.size() + 1;
  }
  return {};
}

}  // namespace

bool IsScopeName(std::string_view name) { return name.starts_with(kPrefix); }

Result<ScopeName> ParseScopeName(std::string_view name) {
  if (!IsScopeName(name)) return At(0, "'LAYER_'");
  const std::size_t batch = name.find(kBatch);
  if (batch == std::string_view::npos) return At(kPrefix.size(), "an API, an element type and '__BatchSize_'");
  ScopeName result;
  INFIMUM_RETURN_IF_ERROR(ReadHead(name.substr(kPrefix.size(), batch - kPrefix.size()), result));
  std::size_t at = batch + kBatch.size();
  const std::size_t batch_end = SkipDigits(name, at);
  if (batch_end == at || name.substr(batch_end, 2) != "__") return At(at, "a batch size and '__'");
  at = batch_end + 2;
  const std::size_t id_end = SkipDigits(name, at);
  if (id_end == at) return At(at, "an id of digits");
  at = id_end;
  if (at < name.size() && name[at] == '<') {
    const std::size_t end = name.find('>', at);
    if (end == std::string_view::npos) return At(at, "'>' after the modes");
    for (const std::string_view mode : Split(name.substr(at + 1, end - at - 1), ',')) {
      if (!IsWord(TrimSpace(mode))) return At(at + 1, "modes such as CUDNN_POOLING_MAX");
      result.modes.emplace_back(TrimSpace(mode));
    }
    at = end + 1;
  }
  if (at >= name.size() || name[at] != '/') return At(at, "'/' and arguments");
  INFIMUM_RETURN_IF_ERROR(ReadArguments(name, at + 1, result));
  return result;
}

}  // namespace infimum::ingest
