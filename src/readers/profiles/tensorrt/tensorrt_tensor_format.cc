#include "src/readers/profiles/tensorrt/tensorrt_tensor_format.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "infimum/base/text.h"

namespace infimum::ingest {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

constexpr std::array kTypes = {
    Pair{"fp32", "f32"},  Pair{"float", "f32"},     Pair{"fp16", "f16"},   Pair{"half", "f16"},
    Pair{"bf16", "bf16"}, Pair{"bfloat16", "bf16"}, Pair{"fp8", "f8e4m3"}, Pair{"double", "f64"},
    Pair{"int64", "s64"}, Pair{"int32", "s32"},     Pair{"int16", "s16"},  Pair{"int8", "s8"},
    Pair{"int4", "s4"},   Pair{"uint64", "u64"},    Pair{"uint32", "u32"}, Pair{"uint16", "u16"},
    Pair{"uint8", "u8"},  Pair{"bool", "bool"},
};

constexpr std::array kWidths = {Pair{"two", "2"},      Pair{"four", "4"},        Pair{"eight", "8"},
                                Pair{"sixteen", "16"}, Pair{"thirty-two", "32"}, Pair{"sixty-four", "64"}};

template <std::size_t kSize>
std::string_view Find(const std::array<Pair, kSize>& table, std::string_view word) {
  const auto found = std::ranges::find(table, word, &Pair::first);
  return found == table.end() ? std::string_view() : found->second;
}

// The number behind `words`; empty where there is none.
std::string_view NumberBehind(std::string_view text, std::string_view words) {
  const std::size_t at = text.find(words);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + words.size());
  return text.substr(0, text.find_first_not_of("0123456789"));
}

std::optional<std::string> LayoutOf(std::string_view text) {
  const bool is_volume = text.find("3 spatial dimensions") != text.npos;
  std::string layout;
  if (text.starts_with("row major")) {
    layout = "linear";
  } else if (text.starts_with("channel major")) {
    layout = is_volume ? "NDHWC" : "NHWC";
    layout += NumberBehind(text, "channel % ");
    layout += NumberBehind(text, "channel == ");
  } else if (const std::size_t wide = text.find(" wide channel vectorized row major"); wide != text.npos) {
    const std::string_view width = Find(kWidths, text.substr(0, wide));
    if (width.empty()) return std::nullopt;
    layout = "NC/" + std::string(width) + (is_volume ? "DHW" : "HW") + std::string(width);
  } else {
    return std::nullopt;
  }
  if (const std::string_view stride = NumberBehind(text, "column stride % "); !stride.empty()) {
    layout += ", column stride " + std::string(stride);
  }
  return layout;
}

}  // namespace

TensorRtFormat FormatOf(std::string_view text) {
  text = TrimSpace(text);
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  TensorRtFormat format;
  if (lower == "unknown format" || lower == "none") return format;
  for (const std::string_view word : Split(lower, ' ')) {
    // Some versions end the sentence: "Row major linear FP16 format."
    format.dtype = Find(kTypes, word.substr(0, word.find_first_of(".,:[")));
    if (!format.dtype.empty()) break;
  }
  if (const std::optional<std::string> layout = LayoutOf(lower)) {
    format.layout = *layout;
  } else if (format.dtype.empty() || text.find(' ') != text.npos) {
    format.layout = text;
  }
  return format;
}

}  // namespace infimum::ingest
