#include "analyzer/alignment/onnxruntime_names.h"

#include <algorithm>
#include <array>

namespace infimum {
namespace {

constexpr std::array<std::string_view, 2> kPrefixes = {"fused ", "Fused "};
constexpr std::array<std::string_view, 11> kSuffixes = {"_kernel_time",
                                                        "_nchwc",
                                                        "_nhwc",
                                                        "/duplicated",
                                                        "_pre_q",
                                                        "_quant",
                                                        "_int8",
                                                        "/MatMulScaleFusion/",
                                                        "/MatMulAddFusion",
                                                        "/MatMulScaleFusion",
                                                        "_quantized"};

bool IsDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// One decoration less; the text as it is where there is none.
std::string_view Strip(std::string_view name) {
  for (std::string_view prefix : kPrefixes)
    if (name.size() > prefix.size() && name.substr(0, prefix.size()) == prefix) return name.substr(prefix.size());
  for (std::string_view suffix : kSuffixes)
    if (name.size() > suffix.size() && name.substr(name.size() - suffix.size()) == suffix)
      return name.substr(0, name.size() - suffix.size());
  constexpr std::string_view kToken = "_token_";
  const std::size_t token = name.rfind(kToken);
  if (token != std::string_view::npos && token > 0 && IsDigits(name.substr(token + kToken.size())))
    return name.substr(0, token);
  return name;
}

}  // namespace

std::vector<std::string> UndecoratedNames(std::string_view engine_name) {
  std::vector<std::string> names{std::string(engine_name)};
  for (std::string_view name = engine_name;;) {
    const std::string_view less = Strip(name);
    if (less.size() == name.size()) break;
    name = less;
    names.emplace_back(name);
  }
  return names;
}

std::string_view CoreOf(std::string_view op) {
  if (const std::size_t dot = op.rfind('.'); dot != std::string_view::npos) op.remove_prefix(dot + 1);
  for (std::string_view prefix : {"QLinear", "Fused", "Skip", "Bias", "Fast"})
    if (op.size() > prefix.size() && op.substr(0, prefix.size()) == prefix) {
      op.remove_prefix(prefix.size());
      break;
    }
  return op;
}

bool OnlyRearranges(std::string_view engine_op) {
  constexpr std::array<std::string_view, 6> kRearrangers = {"Reshape", "Squeeze",  "Unsqueeze",
                                                            "Flatten", "Identity", "Transpose"};
  return std::find(kRearrangers.begin(), kRearrangers.end(), engine_op) != kRearrangers.end();
}

}  // namespace infimum
