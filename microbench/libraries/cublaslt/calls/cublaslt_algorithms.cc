#include "cublaslt_algorithms.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>

namespace cublaslt {
namespace {

struct Field {
  const char* name;
  std::int32_t Algorithm::*member;
};
constexpr Field kFields[] = {
    {"algo=", &Algorithm::id},         {"_tile=", &Algorithm::tile},         {"_stages=", &Algorithm::stages},
    {"_splitk=", &Algorithm::split_k}, {"_red=", &Algorithm::reduction},     {"_swz=", &Algorithm::swizzle},
    {"_custom=", &Algorithm::custom},  {"_inner=", &Algorithm::inner_shape}, {"_cluster=", &Algorithm::cluster_shape}};

constexpr Field kSparseFields[] = {{"alg=", &Algorithm::id},
                                   {"_splitk=", &Algorithm::split_k},
                                   {"_mode=", &Algorithm::reduction},
                                   {"_buffers=", &Algorithm::custom}};

template <class Visit>
void ForEachField(bool sparse, const Visit& visit) {
  if (sparse)
    for (const Field& field : kSparseFields) visit(field);
  else
    for (const Field& field : kFields) visit(field);
}

// In how many parts a depth is split, where an algorithm can.
constexpr std::int32_t kSplits[] = {2, 3, 4, 5, 6, 8, 12, 16, 32};

// Calls visit(settings) for all that the capabilities allow, until it returns false.
template <class Visit>
void ForEachSetting(std::int32_t id, const Capabilities& capabilities, std::int64_t depth, const Visit& visit) {
  Algorithm algorithm;
  algorithm.id = id;
  for (const std::int32_t tile : capabilities.tiles) {
    algorithm.tile = tile;
    for (const std::int32_t stages : capabilities.stages) {
      algorithm.stages = stages;
      for (algorithm.custom = 0; algorithm.custom <= capabilities.most_custom; ++algorithm.custom) {
        for (algorithm.swizzle = 0; algorithm.swizzle <= capabilities.most_swizzles; ++algorithm.swizzle) {
          algorithm.split_k = capabilities.unsplit;
          algorithm.reduction = 0;
          if (!visit(algorithm)) return;
          if (!capabilities.splits_k) continue;
          for (const std::int32_t split : kSplits) {
            if (split > depth) break;
            algorithm.split_k = split;
            for (const std::int32_t reduction : capabilities.reductions) {
              algorithm.reduction = reduction;
              if (!visit(algorithm)) return;
            }
          }
        }
      }
    }
  }
}

// What frameworks try that try several settings: PyTorch's benchmark mode 10, Inductor's autotuning as many.
constexpr std::size_t kFirstSuggestions = 16;

std::vector<Algorithm> Suggested(Answers& answers) {
  std::vector<Algorithm> algorithms;
  std::set<Algorithm> known;
  for (const Algorithm& algorithm : answers.Suggestions())
    if (known.insert(algorithm).second) algorithms.push_back(algorithm);
  return algorithms;
}

// Adds accepted settings of algorithms that are not in `skipped`: of each all of them, or the first without swizzling
// and splitting. An algorithm that takes none is given up: with 300 tiles and 40 stages there are millions to ask for,
// at a microsecond or more (listing one GEMM took 8 s on an H100).
void AddAccepted(Answers& answers, std::int64_t depth, std::size_t most, bool all_settings,
                 const std::set<std::int32_t>& skipped, std::vector<Algorithm>& algorithms) {
  std::set<Algorithm> known(algorithms.begin(), algorithms.end());
  for (const std::int32_t id : answers.Ids()) {
    if (skipped.count(id) > 0) continue;
    const std::optional<Capabilities> capabilities = answers.CapabilitiesOf(id);
    if (!capabilities) continue;
    Capabilities tried = *capabilities;
    if (!all_settings) {
      tried.most_swizzles = 0;
      tried.splits_k = false;
    }
    int left = all_settings ? 100000 : 1000;
    ForEachSetting(id, tried, depth, [&](const Algorithm& algorithm) {
      if (algorithms.size() >= most || --left < 0) return false;
      if (known.count(algorithm) > 0 || !answers.Accepts(algorithm)) return true;
      known.insert(algorithm);
      algorithms.push_back(algorithm);
      return all_settings;
    });
  }
}

}  // namespace

std::string Format(const Algorithm& algorithm, bool sparse) {
  std::string text;
  ForEachField(sparse, [&](const Field& field) { text += field.name + std::to_string(algorithm.*field.member); });
  return text;
}

std::optional<Algorithm> ParseAlgorithm(const std::string& text, bool sparse) {
  Algorithm algorithm;
  std::string_view left = text;
  bool is_one = true;
  ForEachField(sparse, [&](const Field& field) {
    const std::string_view name = field.name;
    is_one = is_one && left.substr(0, name.size()) == name;
    if (!is_one) return;
    left.remove_prefix(name.size());
    const auto [end, error] = std::from_chars(left.data(), left.data() + left.size(), algorithm.*field.member);
    is_one = error == std::errc();
    left.remove_prefix(static_cast<std::size_t>(end - left.data()));
  });
  return is_one && left.empty() ? std::optional<Algorithm>(algorithm) : std::nullopt;
}

std::vector<Algorithm> Heuristic(Answers& answers) {
  std::vector<Algorithm> algorithms = Suggested(answers);
  algorithms.resize(std::min(algorithms.size(), kFirstSuggestions));
  return algorithms;
}

std::vector<Algorithm> BestOfEach(Answers& answers, std::int64_t depth, std::size_t most) {
  std::vector<Algorithm> algorithms;
  std::set<std::int32_t> ids;
  for (const Algorithm& algorithm : Suggested(answers))
    if (ids.insert(algorithm.id).second || algorithms.size() < kFirstSuggestions) algorithms.push_back(algorithm);
  AddAccepted(answers, depth, most, /*all_settings=*/false, ids, algorithms);
  return algorithms;
}

std::vector<Algorithm> Exhaustive(Answers& answers, std::int64_t depth, std::size_t most) {
  std::vector<Algorithm> algorithms = BestOfEach(answers, depth, most);
  for (const Algorithm& algorithm : Suggested(answers))
    if (std::find(algorithms.begin(), algorithms.end(), algorithm) == algorithms.end()) algorithms.push_back(algorithm);
  AddAccepted(answers, depth, most, /*all_settings=*/true, {}, algorithms);
  return algorithms;
}

}  // namespace cublaslt
