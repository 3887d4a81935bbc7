#include "microbench/libraries/cublaslt/gemm_library.h"

#include <charconv>
#include <functional>
#include <set>

namespace infimum::cuda {
namespace {

struct Field {
  const char* name;
  std::int32_t GemmAlgorithm::*member;
};
constexpr Field kFields[] = {{"algo=", &GemmAlgorithm::id},
                             {"_tile=", &GemmAlgorithm::tile},
                             {"_stages=", &GemmAlgorithm::stages},
                             {"_splitk=", &GemmAlgorithm::split_k},
                             {"_red=", &GemmAlgorithm::reduction},
                             {"_swz=", &GemmAlgorithm::swizzle},
                             {"_custom=", &GemmAlgorithm::custom},
                             {"_inner=", &GemmAlgorithm::inner_shape},
                             {"_cluster=", &GemmAlgorithm::cluster_shape}};

// In how many parts a depth is cut, where an algorithm can.
constexpr std::int32_t kSplits[] = {2, 3, 4, 5, 6, 8, 12, 16, 32};

// Calls visit(settings) for all that the capabilities allow, until it returns false.
void ForEachSetting(std::int32_t id, const GemmCapabilities& capabilities, std::int64_t depth,
                    const std::function<bool(const GemmAlgorithm&)>& visit) {
  GemmAlgorithm algorithm{.id = id};
  for (const std::int32_t tile : capabilities.tiles) {
    algorithm.tile = tile;
    for (const std::int32_t stages : capabilities.stages) {
      algorithm.stages = stages;
      for (algorithm.custom = 0; algorithm.custom <= capabilities.most_custom; ++algorithm.custom) {
        for (algorithm.swizzle = 0; algorithm.swizzle <= capabilities.most_swizzles; ++algorithm.swizzle) {
          algorithm.split_k = 1;
          algorithm.reduction = 0;
          if (!visit(algorithm)) return;
          if (!capabilities.splits_k) continue;
          for (const std::int32_t split : kSplits) {
            if (split > depth) break;
            algorithm.split_k = split;
            for (std::int32_t reduction = 1; reduction <= capabilities.reductions; reduction <<= 1) {
              if ((capabilities.reductions & reduction) == 0) continue;
              algorithm.reduction = reduction;
              if (!visit(algorithm)) return;
            }
          }
        }
      }
    }
  }
}

}  // namespace

std::string Format(const GemmAlgorithm& algorithm) {
  std::string text;
  for (const Field& field : kFields) text += field.name + std::to_string(algorithm.*field.member);
  return text;
}

std::optional<GemmAlgorithm> ParseGemmAlgorithm(const std::string& text) {
  GemmAlgorithm algorithm;
  std::string_view left = text;
  for (const Field& field : kFields) {
    const std::string_view name = field.name;
    if (!left.starts_with(name)) return std::nullopt;
    left.remove_prefix(name.size());
    const auto [end, error] = std::from_chars(left.data(), left.data() + left.size(), algorithm.*field.member);
    if (error != std::errc()) return std::nullopt;
    left.remove_prefix(static_cast<std::size_t>(end - left.data()));
  }
  return left.empty() ? std::optional<GemmAlgorithm>(algorithm) : std::nullopt;
}

Result<std::vector<GemmAlgorithm>> GemmAlgorithms(GemmLibrary& library, const GemmProblem& problem, CandidateTier tier,
                                                  std::size_t most) {
  INFIMUM_ASSIGN_OR_RETURN(std::vector<GemmAlgorithm> algorithms, library.Heuristic(problem));
  std::set<GemmAlgorithm> known;
  std::erase_if(algorithms, [&](const GemmAlgorithm& algorithm) { return !known.insert(algorithm).second; });
  if (tier == CandidateTier::kHeuristic) return algorithms;
  std::set<std::int32_t> ids;
  if (tier == CandidateTier::kEngine)
    std::erase_if(algorithms, [&](const GemmAlgorithm& algorithm) { return !ids.insert(algorithm.id).second; });
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<std::int32_t> all, library.Ids(problem));
  for (const std::int32_t id : all) {
    if (tier == CandidateTier::kEngine && ids.contains(id)) continue;
    const Result<GemmCapabilities> capabilities = library.Capabilities(problem, id);
    if (!capabilities.ok()) continue;  // an algorithm that this device does not have
    Status failed;
    ForEachSetting(id, *capabilities, problem.depth, [&](const GemmAlgorithm& algorithm) {
      if (algorithms.size() >= most) return false;
      if (known.contains(algorithm)) return true;
      const Result<bool> accepts = library.Accepts(problem, algorithm);
      if (!accepts.ok()) {
        failed = accepts.error();
        return false;
      }
      if (!*accepts) return true;
      known.insert(algorithm);
      algorithms.push_back(algorithm);
      return tier == CandidateTier::kExhaustive;
    });
    INFIMUM_RETURN_IF_ERROR(failed);
  }
  return algorithms;
}

}  // namespace infimum::cuda
