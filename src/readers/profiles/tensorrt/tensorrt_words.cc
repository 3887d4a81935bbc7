#include "src/readers/profiles/tensorrt/tensorrt_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <unordered_set>
#include <utility>

#include "infimum/base/text.h"
#include "src/readers/profiles/tensorrt/tensorrt_files.h"

namespace infimum::ingest {
namespace {

constexpr int kMaxNesting = 32;  // of PWN(PWN(...))
constexpr std::string_view kOnnxLayer = "[ONNX Layer: ";

bool IsAsciiDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::string_view WithoutDigits(std::string_view text) {
  while (!text.empty() && IsAsciiDigit(text.back())) text.remove_suffix(1);
  return text;
}

bool CutSuffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix) || text.size() == suffix.size()) return false;
  text.remove_suffix(suffix.size());
  return true;
}

// Between brackets of any kind nothing separates. Commas do so in a PWN(...) alone.
std::vector<std::string_view> Pieces(std::string_view text, bool with_commas) {
  const std::array<std::string_view, 3> separators = {" + ", " || ", with_commas ? ", " : " + "};
  std::vector<std::string_view> pieces;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') depth = std::max(0, depth - 1);
    if (depth != 0 || (c != ' ' && c != ',' && c != kNameSeparator)) continue;
    std::size_t length = c == kNameSeparator ? 1 : 0;
    for (const std::string_view separator : separators)
      if (text.substr(i).starts_with(separator)) length = separator.size();
    if (length == 0) continue;
    pieces.push_back(text.substr(begin, i - begin));
    begin = i + length;
    i = begin - 1;
  }
  pieces.push_back(text.substr(begin));
  return pieces;
}

// "Reformatting CopyNode for Input Tensor 0 to LAYER"; in TensorRT 8.0 and before "LAYER input reformatter 0".
std::optional<std::string_view> ReformattedLayer(std::string_view name) {
  constexpr std::string_view kCopy = "Reformatting CopyNode for ", kTo = " to ";
  if (name.starts_with(kCopy)) {
    name.remove_prefix(kCopy.size());
    for (const std::string_view side : {"Input Tensor ", "Output Tensor "}) {
      if (!name.starts_with(side)) continue;
      const std::size_t to = name.find(kTo);
      return to == std::string_view::npos ? std::string_view() : name.substr(to + kTo.size());
    }
    return std::string_view();  // of the network's own inputs and outputs
  }
  std::string_view layer = WithoutDigits(name);
  if (layer.size() != name.size() &&
      (CutSuffix(layer, " input reformatter ") || CutSuffix(layer, " output reformatter "))) {
    return layer;
  }
  return std::nullopt;
}

// Layers that TensorRT and its parser of ONNX put beside a node and name after it.
std::optional<std::string_view> AddedFor(std::string_view piece) {
  constexpr std::array<std::string_view, 9> kPrefixes = {
      "reshape_before_", "reshape_after_",        "squeeze_after_",      "copied_squeeze_after_",   "unsqueeze_before_",
      "shuffle_after_",  "unsqueeze_node_after_", "squeeze_node_after_", "copied_unsqueeze_before_"};
  for (const std::string_view prefix : kPrefixes)
    if (piece.starts_with(prefix)) return piece.substr(prefix.size());
  return std::nullopt;
}

// Pieces that are no node: layers without a name of the model's, copies of shapes, constants, and Myelin's kernels.
bool IsOfTheEngine(std::string_view piece) {
  constexpr std::array<std::string_view, 4> kPrefixes = {"(Unnamed Layer*", "[trainStation", "ONNXTRT_", "__myl"};
  if (std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return piece.starts_with(prefix); })) return true;
  if (piece.ends_with(" copy") || piece.ends_with("HostCopy]") || piece.find("[HostToDeviceCopy") != piece.npos ||
      piece.find("[DeviceToHostCopy") != piece.npos) {
    return true;
  }
  // Parameters: constants that were fused with what they feed carry the initialiser's name.
  constexpr std::array<std::string_view, 4> kParameters = {".weight", ".bias", ".running_mean", ".running_var"};
  if (std::ranges::any_of(kParameters, [&](std::string_view suffix) { return piece.ends_with(suffix); })) return true;
  const std::string_view name = WithoutDigits(piece);
  return name.size() != piece.size() && name.ends_with(':');  // "b3/read:0" is a value
}

// "MatMul_3_myl0_12" is Myelin's kernel of MatMul_3.
std::string_view WithoutMyelinNumber(std::string_view piece) {
  const std::size_t at = piece.rfind("_myl");
  if (at == std::string_view::npos) return piece;
  const std::string_view number = piece.substr(at + 4);
  const bool is_number = !number.empty() && IsAsciiDigit(number[0]) &&
                         std::ranges::all_of(number, [](char c) { return IsAsciiDigit(c) || c == '_'; });
  return is_number ? piece.substr(0, at) : piece;
}

class CoverBuilder {
 public:
  void AddName(std::string_view name, int nesting) {
    if (nesting > kMaxNesting) return;
    for (const std::string_view piece : Pieces(name, nesting > 0)) AddPiece(TrimSpace(piece), nesting);
  }

  void AddNode(std::string_view node) {
    if (!node.empty() && known_.emplace(node).second) cover_.nodes.emplace_back(node);
  }

  TensorRtCover& cover() { return cover_; }

 private:
  void AddPiece(std::string_view piece, int nesting) {
    constexpr std::string_view kPointwise = "PWN(", kForeign = "{ForeignNode[", kForeignEnd = "]}";
    if (piece.starts_with(kPointwise) && piece.ends_with(')')) {
      return AddName(piece.substr(kPointwise.size(), piece.size() - kPointwise.size() - 1), nesting + 1);
    }
    if (piece.starts_with(kForeign) && piece.ends_with(kForeignEnd)) {
      piece = piece.substr(kForeign.size(), piece.size() - kForeign.size() - kForeignEnd.size());
      return AddRegion(piece, nesting);
    }
    if (IsOfTheEngine(piece)) return;
    if (const std::optional<std::string_view> node = AddedFor(piece)) {
      if (cover_.serves.empty()) cover_.serves = *node;
      return;
    }
    const std::string_view kernel = WithoutMyelinNumber(piece);
    if (kernel.size() != piece.size() && kernel.starts_with('_')) return;
    piece = kernel;
    if (!CutSuffix(piece, "_quantize_scale_node")) CutSuffix(piece, "_dequantize_scale_node");
    // A quantization of a value with several readers is done again for each of them.
    std::string_view original = WithoutDigits(piece);
    if (original.size() != piece.size() && CutSuffix(original, "_clone_") && original.find("Linear") != original.npos) {
      piece = original;
    }
    AddNode(piece);
  }

  void AddRegion(std::string_view ends, int nesting) {
    constexpr std::string_view kTo = "...";
    const std::size_t to = ends.rfind(kTo);
    if (to == std::string_view::npos) return AddName(ends, nesting + 1);
    cover_.is_region = true;
    AddName(ends.substr(0, to), nesting + 1);
    AddName(ends.substr(to + kTo.size()), nesting + 1);
  }

  TensorRtCover cover_;
  std::unordered_set<std::string> known_;
};

}  // namespace

TensorRtCover CoverOf(std::string_view name, std::string_view metadata) {
  CoverBuilder builder;
  if (const std::optional<std::string_view> layer = ReformattedLayer(name)) {
    // Its metadata, where it has some, are those of the layer that it serves.
    builder.cover().serves = *layer;
    return std::move(builder.cover());
  }
  for (std::size_t at = metadata.find(kOnnxLayer); at != std::string_view::npos;) {
    metadata.remove_prefix(at + kOnnxLayer.size());
    at = metadata.find(kOnnxLayer);
    // A name may hold brackets: its own are closed by the last one before the next entry.
    std::string_view entry = metadata.substr(0, std::min(at, metadata.find(kNameSeparator)));
    entry = entry.substr(0, entry.rfind(']'));
    builder.AddNode(TrimSpace(entry));
  }
  if (builder.cover().nodes.empty()) builder.AddName(name, 0);
  if (!builder.cover().nodes.empty()) builder.cover().serves.clear();
  return std::move(builder.cover());
}

int CutOptimizationProfile(std::string_view& name) {
  constexpr std::string_view kProfile = " [profile ";
  if (!name.ends_with(']')) return 0;
  const std::size_t at = name.rfind(kProfile);
  if (at == std::string_view::npos) return 0;
  const std::size_t begin = at + kProfile.size();
  const std::optional<std::int64_t> number = ParseInteger(name.substr(begin, name.size() - 1 - begin));
  if (!number || *number < 1 || *number > 10'000) return 0;
  name = name.substr(0, at);
  return static_cast<int>(*number);
}

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
