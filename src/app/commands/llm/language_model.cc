#include "src/app/commands/llm/language_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "infimum/base/text.h"
#include "src/core/graph/run_time_quantities.h"
#include "src/readers/onnx/read_model.h"

namespace infimum {
namespace {

std::string Lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool HasAny(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

// Whether a part of a name between dots, underlines and slashes is k or v: "layer0_k", "v.3", "past_k1"; not
// "pixel_values".
bool NamesKeysOrValues(std::string_view name) {
  constexpr std::string_view kParts[] = {"k", "v", "key", "value"};
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = std::min(name.find_first_of("._/", at), name.size());
    std::string_view part = name.substr(at, end - at);
    while (!part.empty() && std::isdigit(static_cast<unsigned char>(part.back())) != 0) part.remove_suffix(1);
    if (IsOneOf(part, kParts)) return true;
    at = end + 1;
  }
  return false;
}

// Keys or values: floating point, or integers where they are quantized, of three dimensions and more.
bool IsCache(const DeclaredInput& input) {
  const std::string name = Lower(input.name);
  // What was made of the encoder's output keeps its length, and the state of a recurrence or convolution has none.
  if (input.dims.size() < 3 || HasAny(name, {"mask", "embed", "position", "encoder", "cross", "conv", "recurrent",
                                             "ssm", "cos_", "_cos", "sin_", "_sin", "rope", "rotary"}))
    return false;
  if (HasAny(name, {"state"})) return HasAny(name, {"key_state", "value_state", "k_state", "v_state"});
  return HasAny(name, {"past", "cache", "kv"}) || NamesKeysOrValues(name);
}

using Roles = std::vector<std::optional<TokenRole>>;

// Which dimension of a cache is its length, behind the batch at `batch`: batch x heads x positions x size is most
// common, batch x positions x heads x size may be, or batch x positions x size. `masked`: the length of a mask, where
// it is a number.
std::size_t LengthOf(const DeclaredInput& cache, std::size_t batch, std::optional<std::int64_t> masked) {
  constexpr std::int64_t kMostHeads = 256;  // of keys, that any model has
  const std::size_t rank = cache.dims.size(), first = batch + 1;
  if (first + 1 >= rank) return rank - 2;
  const DeclaredDimension &before = cache.dims[first], &behind = cache.dims[first + 1];
  const auto is = [](const DeclaredDimension& dim, std::initializer_list<std::string_view> parts) {
    return HasAny(Lower(dim.symbol), parts);
  };
  const bool has_numbers = before.symbol.empty() && behind.symbol.empty();
  bool is_first = false;
  if (first + 2 == rank && has_numbers)
    is_first = true;
  else if (has_numbers)
    is_first = before.size != behind.size &&
               (masked && (before.size == masked || behind.size == masked)
                    ? before.size == masked
                    : before.size.value_or(0) > kMostHeads && behind.size.value_or(0) <= kMostHeads);
  else if (behind.symbol.empty())
    is_first = !is(before, {"head"});
  else if (!before.symbol.empty())
    is_first = is(behind, {"head"}) && !is(before, {"head"});
  return is_first ? first : first + 1;
}

// The batch's dimension and the length's of a cache: by the symbols that other inputs have for the batch, by the only
// dimension that is open, else by their order. ChatGLM's is positions x batch x heads x size; keys may be stored as
// batch x heads x size x positions.
std::pair<std::size_t, std::size_t> BatchAndLengthOf(const DeclaredInput& cache, std::optional<std::int64_t> masked,
                                                     const std::map<std::string, TokenRole>& known) {
  const std::size_t rank = cache.dims.size();
  const std::size_t usual = rank >= 5 ? rank - 4 : 0;
  std::size_t batch = usual;
  for (std::size_t axis = rank; axis-- > 0;)
    if (const auto found = known.find(cache.dims[axis].symbol);
        found != known.end() && found->second == TokenRole::kBatch)
      batch = axis;
  std::vector<std::size_t> open;
  for (std::size_t axis = 0; axis < rank; ++axis)
    if (axis != batch && !cache.dims[axis].symbol.empty() &&
        !HasAny(Lower(cache.dims[axis].symbol), {"head", "dim", "layer"}))
      open.push_back(axis);
  if (open.size() == 1 || (!open.empty() && batch != usual)) return {batch, open.front()};
  return {batch, LengthOf(cache, batch, masked)};
}

// What each dimension of an input is, as far as its name and number of dimensions tell. `known`: of other inputs.
Roles RolesOf(const DeclaredInput& input, std::optional<std::int64_t> masked,
              const std::map<std::string, TokenRole>& known) {
  const std::string name = Lower(input.name);
  const std::size_t rank = input.dims.size();
  Roles roles(rank);
  if (rank == 0) return roles;
  const auto set = [&](std::size_t axis, TokenRole role) {
    if (axis < rank) roles[axis] = role;
  };
  if (IsCache(input)) {
    const auto [batch, length] = BatchAndLengthOf(input, masked, known);
    set(batch, TokenRole::kBatch);
    set(length, TokenRole::kPast);
  } else if (HasAny(name, {"mask"})) {
    set(0, TokenRole::kBatch);
    set(rank - 1, rank == 1 ? TokenRole::kBatch : TokenRole::kTotal);
    if (rank == 4) set(2, TokenRole::kTokens);
    if (rank == 3) set(1, TokenRole::kTokens);
  } else if (HasAny(name, {"position"})) {
    set(rank - 1, TokenRole::kTokens);
    if (rank >= 2) set(rank - 2, TokenRole::kBatch);
  } else if (HasAny(name, {"seqlen", "lengths"})) {
    set(0, TokenRole::kBatch);
  } else if (HasAny(name, {"ids", "tokens", "embed"}) ||
             ((name == "x" || name == "input") && !IsFloatingPoint(input.type))) {
    set(0, TokenRole::kBatch);
    if (rank >= 2) set(1, TokenRole::kTokens);
  }
  return roles;
}

// A matrix of weights in 8 bits and fewer an element.
bool HasFewBits(const Value& value) {
  return value.kind == ValueKind::kWeight && value.shape && value.shape->rank() >= 2 && value.type != DataType::kBool &&
         value.type != DataType::kNone && BitsPerElement(value.type) <= 8;
}

// Symbols of the lengths of caches that are as long as the context.
std::vector<std::string> LengthsOfCaches(const LanguageModel& model) {
  std::vector<std::string> lengths;
  for (const auto& [symbol, role] : model.symbols)
    if (role == TokenRole::kPast && !model.windows.contains(symbol)) lengths.push_back(symbol);
  return lengths;
}

// Lengths of caches that the model returns with less than all positions, and how many it keeps: layers that look back
// over a window. Caches are returned in the order of the inputs.
std::map<std::string, std::int64_t> KeptLengths(const ModelGraph& graph, std::span<const DeclaredInput> inputs,
                                                const LanguageModel& model, std::int64_t tokens) {
  std::map<std::string, std::int64_t> kept;
  auto next = graph.outputs.begin();
  for (const DeclaredInput& input : inputs) {
    const auto is_length = [&](const DeclaredDimension& dim) {
      const auto found = model.symbols.find(dim.symbol);
      return found != model.symbols.end() && found->second == TokenRole::kPast;
    };
    const auto dim = std::ranges::find_if(input.dims, is_length);
    const auto read = std::ranges::find(graph.inputs, input.name, [&](ValueId id) { return graph.value(id).name; });
    if (!IsCache(input) || dim == input.dims.end() || read == graph.inputs.end()) continue;
    const auto axis = static_cast<std::size_t>(dim - input.dims.begin());
    const Value& cache = graph.value(*read);
    const auto is_returned = [&](ValueId id) {
      const Value& value = graph.value(id);
      if (value.type != cache.type || !value.shape || value.shape->rank() != input.dims.size()) return false;
      Shape like = *cache.shape;
      like.dims[axis] = value.shape->dims[axis];
      return like == *value.shape;
    };
    const auto returned = std::find_if(next, graph.outputs.end(), is_returned);
    if (returned == graph.outputs.end()) return {};
    next = returned + 1;
    const std::int64_t length = graph.value(*returned).shape->dims[axis];
    if (length < cache.shape->dims[axis] + tokens && !model.windows.contains(dim->symbol)) kept[dim->symbol] = length;
  }
  return kept;
}

// The windows of a model whose caches are not all as long as the context: with the longest caches that it can be read
// with, those that it returns shorter are windows; again, where there are windows of several lengths.
void FindWindows(const std::filesystem::path& path, std::span<const DeclaredInput> inputs, TokensAt at,
                 LanguageModel& model) {
  const auto read = [&](const LanguageModel& as, std::int64_t past) {
    ReadOptions options;
    at.past = past;
    options.dims = as.DimsAt(at);
    return ReadModel(path, options);
  };
  const std::int64_t most = at.past;
  LanguageModel found = model;
  while (LengthsOfCaches(found).size() > 1 && !read(found, most).ok()) {
    std::int64_t possible = 0, impossible = most;
    while (impossible - possible > 1) {
      const std::int64_t middle = possible + (impossible - possible) / 2;
      (read(found, middle).ok() ? possible : impossible) = middle;
    }
    const Result<ModelGraph> longest = read(found, possible);
    const auto kept =
        longest.ok() ? KeptLengths(*longest, inputs, found, at.tokens) : std::map<std::string, std::int64_t>();
    if (kept.empty()) break;  // something else than a window
    found.windows.insert(kept.begin(), kept.end());
  }
  if (read(found, most).ok()) {
    model = std::move(found);
    return;
  }
  model.asked = fmt::format(
      "it cannot be read with {} positions in each cache; bind the lengths of those of layers that look back over a "
      "window:",
      most);
  for (const std::string& symbol : LengthsOfCaches(model))
    model.asked += fmt::format(" --dim {}=N", ShellQuoted(symbol));
}

}  // namespace

bool LanguageModel::Has(const TokensAt& at) const {
  const auto is = [&](TokenRole role, std::int64_t value) {
    const auto found = fixed.find(role);
    return found == fixed.end() || found->second == value;
  };
  const auto past = fixed.find(TokenRole::kPast);
  const bool fits =
      in_buffers && past != fixed.end() ? at.past + at.tokens <= past->second : is(TokenRole::kPast, at.past);
  if (caches.empty() && at.past > 0) return false;
  return is(TokenRole::kBatch, at.batch) && is(TokenRole::kTokens, at.tokens) && fits &&
         (in_buffers || is(TokenRole::kTotal, at.past + at.tokens));
}

std::map<std::string, std::int64_t> LanguageModel::DimsAt(const TokensAt& at) const {
  std::map<std::string, std::int64_t> dims = given;
  const std::int64_t total = at.past + at.tokens;
  for (const auto& [symbol, role] : symbols) {
    switch (role) {
      case TokenRole::kBatch:
        dims[symbol] = at.batch;
        break;
      case TokenRole::kTokens:
        dims[symbol] = at.tokens;
        break;
      case TokenRole::kPast:
        dims[symbol] = in_buffers ? total : at.past;
        break;
      case TokenRole::kTotal:
        // A mask is over the whole buffer where nothing else says what of it is valid.
        dims[symbol] =
            in_buffers && !states_positions && fixed.contains(TokenRole::kPast) ? fixed.at(TokenRole::kPast) : total;
        break;
    }
  }
  for (const auto& [symbol, most] : windows) dims[symbol] = std::min(most, at.past);
  if (states_positions) dims[std::string(kCachePositions)] = at.past;
  for (const std::string& branch : cached_branches)
    dims.try_emplace(fmt::format("{}@{}", kIfThen, branch), at.past > 0 ? 1 : 0);
  return dims;
}

Result<LanguageModel> FindRoles(std::span<const DeclaredInput> inputs,
                                const std::map<std::string, std::int64_t>& given) {
  LanguageModel model;
  model.given = given;
  std::map<std::string, std::string> open;  // by symbol, where it stands first
  std::optional<std::int64_t> masked;
  for (const DeclaredInput& input : inputs)
    if (HasAny(Lower(input.name), {"mask"}) && input.dims.size() > 1 && input.dims.back().size)
      masked = input.dims.back().size;
  // Caches last: other inputs tell which symbol is the batch's.
  std::vector<DeclaredInput> ordered(inputs.begin(), inputs.end());
  std::ranges::stable_partition(ordered, [](const DeclaredInput& input) { return !IsCache(input); });
  for (const DeclaredInput& input : ordered) {
    const bool is_cache = IsCache(input);
    if (is_cache) model.caches.push_back(input.name);
    const Roles roles = RolesOf(input, masked, model.symbols);
    for (std::size_t axis = 0; axis < input.dims.size(); ++axis) {
      const DeclaredDimension& dim = input.dims[axis];
      if (const auto bound = given.find(dim.symbol); !dim.symbol.empty() && bound != given.end()) {
        if (is_cache && roles[axis] == TokenRole::kPast)
          model.windows.emplace(dim.symbol, bound->second);
        else if (roles[axis])
          model.fixed.try_emplace(*roles[axis], bound->second);
        continue;
      }
      if (!roles[axis]) {
        if (!dim.symbol.empty() && is_cache) model.sizes.try_emplace(dim.symbol, axis);
        if (!dim.symbol.empty() && !is_cache)
          open.try_emplace(dim.symbol, fmt::format("dimension {} of input {}", axis, Quoted(input.name)));
        continue;
      }
      if (dim.symbol.empty()) {
        // A mask of one position broadcasts.
        if (*roles[axis] != TokenRole::kTotal || dim.size > 1)
          model.fixed.try_emplace(*roles[axis], dim.size.value_or(1));
        continue;
      }
      // A model without caches may use one symbol for tokens and mask: then the tokens' role holds.
      const auto [known, is_new] = model.symbols.try_emplace(dim.symbol, *roles[axis]);
      if (!is_new && known->second == TokenRole::kTotal) known->second = *roles[axis];
    }
  }
  // Where no cache is as long as the context, the bound length is all that there is.
  if (!model.windows.empty() && LengthsOfCaches(model).empty()) {
    model.fixed.try_emplace(TokenRole::kPast, model.windows.begin()->second);
    model.windows.clear();
  }
  const bool has_tokens =
      model.fixed.contains(TokenRole::kTokens) ||
      std::ranges::any_of(model.symbols, [](const auto& symbol) { return symbol.second == TokenRole::kTokens; });
  if (!has_tokens)
    return Error{
        "no input takes tokens: a language model has an input such as input_ids or inputs_embeds, of batch x tokens"};
  std::string unknown, options;
  for (const auto& [symbol, where] : open) {
    if (model.symbols.contains(symbol)) continue;  // another input has told
    unknown += fmt::format("{}{} ({})", unknown.empty() ? "" : ", ", Quoted(symbol), where);
    options += fmt::format(" --dim {}=N", ShellQuoted(symbol));
  }
  std::erase_if(model.sizes, [&](const auto& size) { return model.symbols.contains(size.first); });
  if (!unknown.empty()) return Error{fmt::format("it is not known what {} is; bind it with{}", unknown, options)};
  return model;
}

Result<LanguageModel> ReadLanguageModel(const std::filesystem::path& path,
                                        const std::map<std::string, std::int64_t>& given, std::int64_t most_past) {
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<DeclaredInput> inputs, ReadModelInputs(path));
  Result<LanguageModel> model = FindRoles(inputs, given);
  if (!model.ok()) return Within(path.string(), model.error());
  if (model->caches.empty()) return model;
  const auto fixed = [&](TokenRole role, std::int64_t otherwise) {
    const auto found = model->fixed.find(role);
    return found == model->fixed.end() ? otherwise : found->second;
  };
  const TokensAt small{fixed(TokenRole::kBatch, 1), fixed(TokenRole::kTokens, 1), fixed(TokenRole::kPast, 16)};
  ReadOptions options;
  options.dims = model->DimsAt(small);
  for (const auto& [symbol, axis] : model->sizes) options.dims[symbol] = 1;
  std::erase_if(options.dims, [](const auto& dim) { return IsQuantity(dim.first); });
  Result<ModelGraph> first = ReadModel(path, options);
  if (!first.ok() && !model->sizes.empty()) {
    std::string sizes;
    for (const auto& [symbol, axis] : model->sizes) sizes += fmt::format(" --dim {}=N", ShellQuoted(symbol));
    return Error{
        fmt::format("{}; the sizes of its caches have names alone: bind them with{}", first.error().message, sizes)};
  }
  INFIMUM_ASSIGN_OR_RETURN(ModelGraph graph, std::move(first));
  // Of a decoder with and without caches in one file, the branch with them.
  for (const Layer& layer : graph.layers)
    if (layer.bodies.size() > 1 && !layer.inputs.empty() && layer.inputs[0] &&
        graph.value(*layer.inputs[0]).kind == ValueKind::kGraphInput)
      model->cached_branches.push_back(layer.name);
  if (!model->cached_branches.empty()) {
    for (const std::string& branch : model->cached_branches) options.dims[fmt::format("{}@{}", kIfThen, branch)] = 1;
    INFIMUM_ASSIGN_OR_RETURN(graph, ReadModel(path, options));
  }
  model->has_few_bits = std::ranges::any_of(graph.layers, [&](const Layer& layer) {
    return std::ranges::any_of(
        layer.inputs, [&](const std::optional<ValueId>& input) { return input && HasFewBits(graph.value(*input)); });
  });
  // What the model returns as a cache has the sizes that it asks of one.
  for (const auto& [symbol, axis] : model->sizes) {
    const auto is_like = [&](ValueId id) {
      const Value& value = graph.value(id);
      return value.shape && value.shape->rank() >= 3 && axis < value.shape->rank() &&
             HasAny(Lower(value.name), {"present", "key", "value", "cache"});
    };
    const auto found = std::ranges::find_if(graph.outputs, is_like);
    if (found == graph.outputs.end())
      return Error{fmt::format("{}: it is not known what {} of its caches is; bind it with --dim {}=N", path.string(),
                               Quoted(symbol), ShellQuoted(symbol))};
    model->given[symbol] = graph.value(*found).shape->dims[axis];
  }
  const auto has_positions = [](const ModelGraph& read) {
    bool found = false;
    VisitQuantities(read, [&](const RunTimeQuantity& quantity) { found |= quantity.name == kCachePositions; });
    return found;
  };
  model->in_buffers = model->states_positions = has_positions(graph);
  // A cache that comes back as long as it was is a buffer too.
  const auto comes_back = [&](const ModelGraph& read) {
    return std::ranges::any_of(read.inputs, [&](ValueId id) {
      const Value& cache = read.value(id);
      return std::ranges::find(model->caches, cache.name) != model->caches.end() &&
             std::ranges::any_of(read.outputs, [&](ValueId output) {
               return read.value(output).type == cache.type && read.value(output).shape == cache.shape;
             });
    });
  };
  model->in_buffers = model->in_buffers || comes_back(graph);
  if (model->in_buffers || model->fixed.contains(TokenRole::kPast)) return model;
  // Caches that can have room for the new positions are given it: programs that generate text do so.
  LanguageModel with_room = *model;
  with_room.in_buffers = true;
  options.dims = with_room.DimsAt(small);
  options.dims.erase(std::string(kCachePositions));
  if (const Result<ModelGraph> roomy = ReadModel(path, options); roomy.ok() && comes_back(*roomy)) {
    with_room.states_positions = has_positions(*roomy);
    return with_room;
  }
  if (most_past > small.past && LengthsOfCaches(*model).size() > 1)
    FindWindows(path, inputs, {small.batch, small.tokens, most_past}, *model);
  return model;
}

}  // namespace infimum
