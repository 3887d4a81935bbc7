#include "analyzer/trace/traced_operators.h"

#include <algorithm>
#include <cctype>
#include <tuple>
#include <unordered_map>

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

namespace {

// For each call the call that stands for the layer that it is part of; kNoCall outside of operators.
std::vector<std::uint32_t> LayerCalls(const Timeline& timeline, const TracedNames& names) {
  const std::vector<std::uint32_t> enclosing =
      EnclosingCalls(timeline, [&names](const HostCall& call) { return names.IsOperator(call); });
  struct Chain {  // of the calls around, outermost first
    std::uint32_t backward = kNoCall, known = kNoCall, registered = kNoCall;
  };
  std::vector<Chain> chains;
  chains.reserve(enclosing.size());
  std::vector<std::uint32_t> layers;
  layers.reserve(enclosing.size());
  std::uint32_t i = 0;
  for (const HostCall& call : timeline.host_calls) {
    const std::uint32_t around = enclosing[i];
    Chain chain = around == kNoCall ? Chain{} : chains[around];
    std::uint32_t innermost = around;
    if (names.IsOperator(call)) {
      const TracedName& name = names.of(call);
      if (chain.backward == kNoCall && name.is_backward) chain.backward = i;
      if (chain.known == kNoCall && name.is_registered && name.kind != OperatorKind::kOther) chain.known = i;
      if (chain.registered == kNoCall && name.is_registered) chain.registered = i;
      innermost = i;
    }
    chains.push_back(chain);
    layers.push_back(chain.backward != kNoCall     ? chain.backward
                     : chain.known != kNoCall      ? chain.known
                     : chain.registered != kNoCall ? chain.registered
                                                   : innermost);
    ++i;
  }
  return layers;
}

void SortByAsking(std::vector<TracedLayer>& layers) {
  std::ranges::stable_sort(layers, [](const TracedLayer& a, const TracedLayer& b) {
    return std::tuple(a.asked_ns, a.work.empty() ? 0 : a.work.front()) <
           std::tuple(b.asked_ns, b.work.empty() ? 0 : b.work.front());
  });
}

}  // namespace

std::vector<TracedLayer> TracedLayers(const Timeline& timeline, const TracedNames& names,
                                      const std::vector<WorkOrigin>& origins, std::int64_t device) {
  const std::vector<std::uint32_t> layer_of = LayerCalls(timeline, names);
  std::vector<TracedLayer> layers;
  if (timeline.device_work.empty()) {
    std::uint32_t i = 0;
    for (const HostCall& call : timeline.host_calls) {
      if (layer_of[i] == i) layers.push_back({i, {}, call.start_ns});
      ++i;
    }
    return layers;
  }
  std::unordered_map<std::uint32_t, std::size_t> places;  // by call
  std::uint32_t i = 0;
  for (const DeviceWork& work : timeline.device_work) {
    const std::uint32_t at = i++;
    if (timeline.streams[work.stream].device != device) continue;
    const WorkOrigin& origin = origins[at];
    const std::uint32_t started_by = origin.call != kNoCall ? origin.call : origin.operation;
    const std::uint32_t call = started_by == kNoCall ? kNoCall : layer_of[started_by];
    if (call == kNoCall) {
      layers.push_back(
          {kNoCall, {at}, origin.call == kNoCall ? work.start_ns : timeline.host_calls[origin.call].start_ns});
      continue;
    }
    const auto [place, is_new] = places.emplace(call, layers.size());
    if (is_new) layers.push_back({call, {}, timeline.host_calls[call].start_ns});
    layers[place->second].work.push_back(at);
  }
  SortByAsking(layers);
  return layers;
}

}  // namespace infimum
