#include "analyzer/trace/traced_operators.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "infimum/base/text.h"

namespace infimum {
namespace {

constexpr std::int64_t kMostExtent = std::int64_t{1} << 40;

bool IsWordCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// "aten::mm": two words, and "aten::mm.out".
bool IsRegistered(std::string_view op) {
  const std::size_t colons = op.find("::");
  if (colons == std::string_view::npos || colons == 0 || colons + 2 == op.size()) return false;
  return std::ranges::all_of(op.substr(0, colons), IsWordCharacter) &&
         std::ranges::all_of(op.substr(colons + 2), [](char c) { return IsWordCharacter(c) || c == '.'; });
}

}  // namespace

TracedName ParseTracedName(std::string_view name) {
  TracedName parsed;
  parsed.op = name;
  for (const std::string_view decoration : {", seq = ", ", op_id = ", ", sizes = "}) {
    const std::size_t at = name.find(decoration);
    if (at == std::string_view::npos) continue;
    parsed.op = parsed.op.substr(0, std::min(parsed.op.size(), at));
    parsed.is_operator = true;
    if (decoration != ", sizes = ") continue;
    parsed.shapes = name.substr(at + decoration.size());
    parsed.shapes = parsed.shapes.substr(0, parsed.shapes.find(", input_op_ids = "));
  }
  parsed.is_registered = IsRegistered(parsed.op);
  parsed.is_operator |= parsed.is_registered;
  parsed.is_backward = parsed.op.find("Backward") != std::string_view::npos ||
                       parsed.op.find("backward") != std::string_view::npos || parsed.op.starts_with("autograd::") ||
                       parsed.op.starts_with("torch::autograd::");
  if (!parsed.is_backward) parsed.kind = KindOf(parsed.op);
  return parsed;
}

std::vector<ProfiledTensor> TensorsOf(std::string_view shapes) {
  std::vector<ProfiledTensor> tensors;
  int depth = 0;
  bool is_leaf = false, in_number = false;  // of the innermost open list
  std::int64_t number = 0;
  const auto end_number = [&] {
    if (in_number && depth > 1) tensors.back().dims.push_back(number);
    in_number = false;
    number = 0;
  };
  for (const char c : shapes) {
    if (c == '[') {
      // A list of lists is no tensor: what was opened for it is taken back.
      if (is_leaf && depth > 1) tensors.pop_back();
      if (++depth > 1) tensors.emplace_back();
      is_leaf = true;
    } else if (c == ']') {
      end_number();
      if (--depth < 0) return {};
      is_leaf = false;
    } else if (c >= '0' && c <= '9') {
      if (!is_leaf || number > kMostExtent) return {};
      in_number = true;
      number = number * 10 + (c - '0');
    } else if (c == ',' || std::isspace(static_cast<unsigned char>(c)) != 0) {
      end_number();
    } else {
      return {};
    }
  }
  return depth == 0 ? tensors : std::vector<ProfiledTensor>{};
}

std::string_view KernelClass(std::string_view kernel) {
  kernel = TrimSpace(kernel);
  constexpr std::string_view kVoid = "void ";
  if (kernel.starts_with(kVoid)) kernel.remove_prefix(kVoid.size());
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  for (std::size_t at = 0; at < kernel.size(); ++at) {
    if (kernel.substr(at).starts_with(kAnonymous)) {
      at += kAnonymous.size() - 1;
    } else if (at > 0 && (kernel[at] == '<' || kernel[at] == '(')) {
      return TrimSpace(kernel.substr(0, at));
    }
  }
  return kernel;
}

TracedNames::TracedNames(const Timeline& timeline) {
  names_.reserve(timeline.names.size());
  for (std::size_t i = 0; i < timeline.names.size(); ++i)
    names_.push_back(ParseTracedName(timeline.names.text(static_cast<NameId>(i))));
}

}  // namespace infimum
