#include "src/app/commands/compare/dims_of_run.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

namespace infimum {
namespace {

using Dims = std::map<std::string, std::int64_t>;

bool IsFloat(std::string_view type) { return type == "f32" || type == "f16" || type == "bf16" || type == "f64"; }

// An engine may have cast an input to another type of floats before its first reader.
bool IsOfType(const ProfiledTensor& tensor, DataType type) {
  return tensor.dtype.empty() || tensor.dtype == Name(type) || (IsFloat(tensor.dtype) && IsFloat(Name(type)));
}

// What the symbols are if `tensor` is the input; nullopt where it cannot be.
std::optional<Dims> BindingOf(const DeclaredInput& input, const ProfiledTensor& tensor, const Dims& known) {
  if (tensor.dims.size() != input.dims.size()) return std::nullopt;
  if (!IsOfType(tensor, input.type)) return std::nullopt;
  Dims found;
  for (std::size_t axis = 0; axis < input.dims.size(); ++axis) {
    const std::int64_t size = tensor.dims[axis];
    if (input.dims[axis].size) {
      if (*input.dims[axis].size != size) return std::nullopt;
      continue;
    }
    const std::string& symbol = input.dims[axis].symbol;
    const auto bound = known.find(symbol);
    if (bound != known.end() && bound->second != size) return std::nullopt;
    if (bound != known.end()) continue;
    if (const auto [place, is_new] = found.emplace(symbol, size); !is_new && place->second != size) return std::nullopt;
  }
  return found;
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

// The operands of a layer that may be the input: "aten::conv2d" and "FusedConv" read what a Conv does.
std::vector<const ProfiledTensor*> PossibleOperands(const DeclaredInput& input, const ProfiledLayer& layer) {
  std::vector<const ProfiledTensor*> operands;
  const std::string op = LowerCase(layer.op);
  for (const InputReader& reader : input.readers)
    if (reader.operand < layer.input_tensors.size() && op.find(LowerCase(reader.op)) != std::string::npos)
      operands.push_back(&layer.input_tensors[reader.operand]);
  return operands;
}

bool LooksLikeNoOther(const DeclaredInput& input, const Dims& known) {
  const bool is_index = input.type == DataType::kS64 || input.type == DataType::kS32 || input.type == DataType::kBool;
  return is_index || std::ranges::any_of(input.dims, [&known](const DeclaredDimension& dim) {
           return dim.size || known.contains(dim.symbol);
         });
}

}  // namespace

std::map<std::string, std::int64_t> DimsOfRun(const std::vector<DeclaredInput>& inputs, const RunProfile& run,
                                              const std::map<std::string, std::int64_t>& dims) {
  std::map<std::string, std::set<std::int64_t>> told;
  for (const DeclaredInput& input : inputs) {
    if (!LooksLikeNoOther(input, dims)) continue;
    for (const ProfiledLayer& layer : run.layers)
      for (const ProfiledTensor* tensor : PossibleOperands(input, layer))
        if (const std::optional<Dims> binding = BindingOf(input, *tensor, dims))
          for (const auto& [symbol, size] : *binding) told[symbol].insert(size);
  }
  Dims agreed;
  for (const auto& [symbol, sizes] : told)
    if (sizes.size() == 1) agreed.emplace(symbol, *sizes.begin());
  return agreed;
}

}  // namespace infimum
