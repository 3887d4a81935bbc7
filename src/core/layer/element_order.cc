#include "infimum/layer/element_order.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace infimum {
namespace {

constexpr std::size_t kMostDimensions = 12;  // of any library here

bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
char Lower(char c) { return IsUpper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

// Which dimension a letter of "nchw" is; the spatial ones end with w.
std::optional<std::size_t> NamedDimension(char letter, std::size_t rank) {
  switch (letter) {
    case 'n':
      return 0;
    case 'c':
      return 1;
    case 'd':
      return rank == 5 ? std::optional<std::size_t>(2) : std::nullopt;
    case 'h':
      return rank >= 4 ? std::optional<std::size_t>(rank - 2) : std::nullopt;
    case 'w':
      return rank >= 3 ? std::optional<std::size_t>(rank - 1) : std::nullopt;
    default:
      return std::nullopt;
  }
}

// The blocks that a name lists, outermost first.
struct ParsedName {
  std::vector<std::size_t> outer;  // dimensions, the slowest first
  std::vector<std::pair<std::size_t, std::int64_t>> blocks;
};

std::optional<ParsedName> ParseLetters(std::string_view name, std::size_t rank) {
  ParsedName parsed;
  std::vector<bool> split(rank, false), seen(rank, false);
  std::size_t at = 0;
  for (; at < name.size() && std::isalpha(static_cast<unsigned char>(name[at])) != 0; ++at) {
    const auto dimension = static_cast<std::size_t>(Lower(name[at]) - 'a');
    if (dimension >= rank || seen[dimension]) return std::nullopt;
    seen[dimension] = true;
    split[dimension] = IsUpper(name[at]);
    parsed.outer.push_back(dimension);
  }
  if (parsed.outer.size() != rank) return std::nullopt;
  std::vector<bool> has_block(rank, false);
  while (at < name.size()) {
    std::int64_t extent = 0;
    for (; at < name.size() && std::isdigit(static_cast<unsigned char>(name[at])) != 0 && extent < 1'000'000; ++at)
      extent = extent * 10 + (name[at] - '0');
    if (extent < 2 || at == name.size() || name[at] < 'a') return std::nullopt;
    const auto dimension = static_cast<std::size_t>(name[at++] - 'a');
    if (dimension >= rank || !split[dimension]) return std::nullopt;
    has_block[dimension] = true;
    parsed.blocks.emplace_back(dimension, extent);
  }
  if (has_block != split) return std::nullopt;
  return parsed;
}

}  // namespace

std::vector<ElementRun> Normalized(std::vector<ElementRun> runs) {
  std::erase_if(runs, [](const ElementRun& run) { return run.extent == 1; });
  std::ranges::sort(runs, std::ranges::greater(), &ElementRun::logical);
  std::vector<ElementRun> joined;
  for (const ElementRun& run : runs) {
    const bool continues = !joined.empty() && joined.back().logical == run.extent * run.logical &&
                           joined.back().physical == run.extent * run.physical;
    if (continues) {
      joined.back() = {joined.back().extent * run.extent, run.logical, run.physical};
    } else {
      joined.push_back(run);
    }
  }
  return joined;
}

bool ElementOrder::is_row_major() const {
  return padded.empty() && (runs.empty() || (runs.size() == 1 && runs[0].logical == runs[0].physical));
}

std::optional<CommonDimensions> OverCommonDimensions(const std::vector<ElementRun>& from,
                                                     const std::vector<ElementRun>& to) {
  CommonDimensions common;
  std::size_t a = from.size(), b = to.size();
  std::int64_t a_done = 1, b_done = 1;  // elements taken of the runs under way
  while (a > 0 && b > 0) {
    const ElementRun& source = from[a - 1];
    const ElementRun& target = to[b - 1];
    const std::int64_t a_left = source.extent / a_done, b_left = target.extent / b_done;
    const std::int64_t extent = std::min(a_left, b_left);
    if (std::max(a_left, b_left) % extent != 0) return std::nullopt;
    common.dims.push_back(extent);
    common.from.push_back(source.physical * a_done);
    common.to.push_back(target.physical * b_done);
    a_done *= extent;
    b_done *= extent;
    if (a_done == source.extent) {
      --a;
      a_done = 1;
    }
    if (b_done == target.extent) {
      --b;
      b_done = 1;
    }
  }
  if (a != 0 || b != 0) return std::nullopt;
  for (std::vector<std::int64_t>* const list : {&common.dims, &common.from, &common.to})
    std::reverse(list->begin(), list->end());
  return common;
}

std::optional<std::vector<ElementRun>> TransposedInPlace(const std::vector<ElementRun>& runs, const Shape& shape,
                                                         const std::vector<std::int64_t>& permutation) {
  // Of each dimension the step of the result's index in place of that in memory.
  std::vector<ElementRun> dims(shape.rank());
  std::int64_t step = 1;
  for (std::size_t i = shape.rank(); i-- > 0;) {
    const auto from = static_cast<std::size_t>(permutation[i]);
    dims[from] = {shape.dims[from], 1, step};
    step *= shape.dims[from];
  }
  std::erase_if(dims, [](const ElementRun& dim) { return dim.extent == 1; });
  const std::optional<CommonDimensions> common = OverCommonDimensions(runs, dims);
  if (!common) return std::nullopt;
  std::vector<ElementRun> moved;
  for (std::size_t i = 0; i < common->dims.size(); ++i)
    moved.push_back({common->dims[i], common->to[i], common->from[i]});
  return Normalized(std::move(moved));
}

std::optional<std::vector<std::vector<ElementRun>>> JoinedInPlace(const std::vector<ElementRun>& runs,
                                                                  const std::vector<std::int64_t>& counts) {
  if (runs.empty() || runs[0].logical != runs[0].physical) return std::nullopt;
  // Blocks one behind the other, all alike within; a part is a number of them.
  const std::int64_t block = runs[0].logical;
  std::vector<std::vector<ElementRun>> parts;
  for (const std::int64_t count : counts) {
    if (count % block != 0) return std::nullopt;
    std::vector<ElementRun> part = runs;
    part[0].extent = count / block;
    parts.push_back(Normalized(std::move(part)));
  }
  return parts;
}

ElementOrder RowMajorOrder(const Shape& shape) { return {Normalized({{ElementCount(shape), 1, 1}}), {}}; }

std::string RowMajorName(std::size_t rank) {
  std::string name;
  for (std::size_t i = 0; i < rank; ++i) name += static_cast<char>('a' + i);
  return name;
}

namespace {

// The name in letters: "acdb" for "nhwc" in rank 4; others as they are.
std::string LetterName(std::string_view name, std::size_t rank) {
  if (name == "plain" || rank == 0) return RowMajorName(rank);
  std::string letters;
  bool in_blocks = false;
  for (const char c : name) {
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      in_blocks = true;
      letters += c;
      continue;
    }
    const std::optional<std::size_t> dimension = NamedDimension(Lower(c), rank);
    if (!dimension) return std::string(name);
    const char first = IsUpper(c) && !in_blocks ? 'A' : 'a';
    letters += static_cast<char>(first + static_cast<char>(*dimension));
  }
  // Letters alone ("dcba") say the same in both languages only where an n is among them.
  const bool is_named = name.find_first_of("nN") != std::string_view::npos;
  return is_named ? letters : std::string(name);
}

}  // namespace

std::string NameInOwnShape(const ElementOrder& order) {
  if (order.is_row_major() || !order.is_dense()) return order.is_row_major() ? "plain" : order.padded;
  Shape shape;
  std::vector<std::size_t> by_place(order.runs.size());
  for (std::size_t i = 0; i < order.runs.size(); ++i) {
    shape.dims.push_back(order.runs[i].extent);
    by_place[i] = i;
  }
  std::ranges::sort(by_place,
                    [&](std::size_t a, std::size_t b) { return order.runs[a].physical > order.runs[b].physical; });
  std::string letters;
  for (std::size_t dimension : by_place) letters += static_cast<char>('a' + dimension);
  return Format(shape) + ":" + letters;
}

LayoutView ViewOf(std::string_view name, const Shape& shape) {
  const std::size_t colon = name.find(':');
  if (colon == std::string_view::npos) return {shape, LetterName(name, shape.rank())};
  const Result<Shape> seen = ParseShape(name.substr(0, colon));
  if (!seen.ok() || ElementCount(*seen) != ElementCount(shape)) return {shape, std::string(name)};
  return {*seen, LetterName(name.substr(colon + 1), seen->rank())};
}

std::optional<ElementOrder> ParseLayout(std::string_view name, const Shape& tensor) {
  if (name == "plain" || name == "-") return RowMajorOrder(tensor);
  const auto [shape, letters] = ViewOf(name, tensor);
  const std::size_t rank = shape.rank();
  if (rank == 0 || rank > kMostDimensions) return std::nullopt;
  const std::optional<ParsedName> parsed = ParseLetters(letters, rank);
  if (!parsed) return std::nullopt;
  std::vector<std::int64_t> logical(rank, 1), inside(rank, 1);
  for (std::size_t i = rank - 1; i-- > 0;) logical[i] = logical[i + 1] * shape.dims[i + 1];
  std::vector<ElementRun> runs;
  std::int64_t step = 1;
  bool has_gaps = false;
  for (std::size_t k = parsed->blocks.size(); k-- > 0;) {
    const auto& [dimension, extent] = parsed->blocks[k];
    runs.push_back({extent, logical[dimension] * inside[dimension], step});
    has_gaps |= inside[dimension] > kMaxElements / extent;
    if (!has_gaps) inside[dimension] *= extent;
    has_gaps |= shape.dims[dimension] % inside[dimension] != 0;
    if (has_gaps) return ElementOrder{{}, letters + " " + Format(shape)};
    step *= extent;
  }
  for (std::size_t k = parsed->outer.size(); k-- > 0;) {
    const std::size_t dimension = parsed->outer[k];
    const std::int64_t extent = shape.dims[dimension] / inside[dimension];
    runs.push_back({extent, logical[dimension] * inside[dimension], step});
    step *= extent;
  }
  return ElementOrder{Normalized(std::move(runs)), {}};
}

}  // namespace infimum
