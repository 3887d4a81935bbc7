#include "cublaslt_algorithms.h"

#include <array>
#include <cstdio>
#include <set>

namespace cublaslt {
namespace {

// An algorithm's settings, in the order in which names have them.
struct Settings {
  std::int32_t id = 0;
  std::uint32_t tile = 0, stages = 0;
  std::int32_t split_k = 1;
  std::uint32_t reduction = 0, swizzle = 0, custom = 0;
  std::uint16_t inner = 0, cluster = 0;
};

template <class Value>
Value Get(const cublasLtMatmulAlgo_t& algorithm, cublasLtMatmulAlgoConfigAttributes_t attribute) {
  Value value{};
  Check(cublasLtMatmulAlgoConfigGetAttribute(&algorithm, attribute, &value, sizeof value, nullptr),
        "cublasLtMatmulAlgoConfigGetAttribute");
  return value;
}

Settings SettingsOf(const cublasLtMatmulAlgo_t& algorithm) {
  Settings settings;
  settings.id = Get<std::int32_t>(algorithm, CUBLASLT_ALGO_CONFIG_ID);
  settings.tile = Get<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID);
  settings.stages = Get<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_STAGES_ID);
  settings.split_k = Get<std::int32_t>(algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM);
  settings.reduction = Get<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME);
  settings.swizzle = Get<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING);
  settings.custom = Get<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION);
  settings.inner = Get<std::uint16_t>(algorithm, CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID);
  settings.cluster = Get<std::uint16_t>(algorithm, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID);
  return settings;
}

constexpr char kPattern[] = "algo=%d_tile=%u_stages=%u_splitk=%d_red=%u_swz=%u_custom=%u_inner=%hu_cluster=%hu";

std::string NameOf(const Settings& settings) {
  char name[200];
  std::snprintf(name, sizeof name, kPattern, settings.id, settings.tile, settings.stages, settings.split_k,
                settings.reduction, settings.swizzle, settings.custom, settings.inner, settings.cluster);
  return name;
}

std::optional<Settings> ParseName(const std::string& name) {
  Settings settings;
  const int count =
      std::sscanf(name.c_str(), kPattern, &settings.id, &settings.tile, &settings.stages, &settings.split_k,
                  &settings.reduction, &settings.swizzle, &settings.custom, &settings.inner, &settings.cluster);
  if (count != 9 || NameOf(settings) != name) return std::nullopt;
  return settings;
}

cublasStatus_t Initialize(const Handle& handle, const Problem& problem, int id, cublasLtMatmulAlgo_t& algorithm) {
  return cublasLtMatmulAlgoInit(handle.get(), problem.types.compute, problem.types.scale, problem.first.type(),
                                problem.second.type(), problem.addend.type(), problem.result.type(), id, &algorithm);
}

// The algorithm in this setting, as cuBLASLt has it after its own check; an error where it does not take it.
cublasStatus_t Configure(const Handle& handle, const Problem& problem, const Settings& settings,
                         cublasLtMatmulAlgo_t& algorithm) {
  cublasStatus_t status = Initialize(handle, problem, settings.id, algorithm);
  const auto set = [&](cublasLtMatmulAlgoConfigAttributes_t attribute, auto value) {
    if (status == CUBLAS_STATUS_SUCCESS)
      status = cublasLtMatmulAlgoConfigSetAttribute(&algorithm, attribute, &value, sizeof value);
  };
  set(CUBLASLT_ALGO_CONFIG_TILE_ID, settings.tile);
  set(CUBLASLT_ALGO_CONFIG_STAGES_ID, settings.stages);
  set(CUBLASLT_ALGO_CONFIG_SPLITK_NUM, settings.split_k);
  set(CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, settings.reduction);
  set(CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, settings.swizzle);
  set(CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, settings.custom);
  set(CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, settings.inner);
  set(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, settings.cluster);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  cublasLtMatmulHeuristicResult_t result{};
  status = cublasLtMatmulAlgoCheck(handle.get(), problem.description, problem.first.layout(), problem.second.layout(),
                                   problem.addend.layout(), problem.result.layout(), &algorithm, &result);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  return result.workspaceSize <= kWorkspaceBytes ? result.state : CUBLAS_STATUS_NOT_SUPPORTED;
}

template <class Value>
Value Capability(const cublasLtMatmulAlgo_t& algorithm, cublasLtMatmulAlgoCapAttributes_t attribute) {
  Value value{};
  Check(cublasLtMatmulAlgoCapGetAttribute(&algorithm, attribute, &value, sizeof value, nullptr),
        "cublasLtMatmulAlgoCapGetAttribute");
  return value;
}

// A list of ids; where it is empty, the id that says "undefined".
std::vector<std::uint32_t> Ids(const cublasLtMatmulAlgo_t& algorithm, cublasLtMatmulAlgoCapAttributes_t attribute) {
  std::size_t bytes = 0;
  if (cublasLtMatmulAlgoCapGetAttribute(&algorithm, attribute, nullptr, 0, &bytes) != CUBLAS_STATUS_SUCCESS ||
      bytes == 0)
    return {0};
  std::vector<std::uint32_t> ids(bytes / sizeof(std::uint32_t));
  Check(cublasLtMatmulAlgoCapGetAttribute(&algorithm, attribute, ids.data(), bytes, nullptr),
        "cublasLtMatmulAlgoCapGetAttribute");
  return ids;
}

// How products along the depth are divided, and how the parts are added up.
std::vector<std::pair<std::int32_t, std::uint32_t>> SplitsOf(const cublasLtMatmulAlgo_t& algorithm) {
  std::vector<std::pair<std::int32_t, std::uint32_t>> splits{{1, CUBLASLT_REDUCTION_SCHEME_NONE}};
  if (Capability<std::int32_t>(algorithm, CUBLASLT_ALGO_CAP_SPLITK_SUPPORT) == 0) return splits;
  const auto mask = Capability<std::uint32_t>(algorithm, CUBLASLT_ALGO_CAP_REDUCTION_SCHEME_MASK);
  for (const std::int32_t parts : {2, 3, 4, 5, 6, 8, 12, 16, 32})
    for (const std::uint32_t scheme : {CUBLASLT_REDUCTION_SCHEME_INPLACE, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE,
                                       CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE})
      if ((mask & scheme) != 0) splits.emplace_back(parts, scheme);
  return splits;
}

// Calls `take` with every setting of an algorithm until it returns false.
template <class Take>
void EachSetting(const cublasLtMatmulAlgo_t& algorithm, int id, const Take& take) {
  const auto custom_most = Capability<std::int32_t>(algorithm, CUBLASLT_ALGO_CAP_CUSTOM_OPTION_MAX);
  const auto swizzle_most = Capability<std::uint32_t>(algorithm, CUBLASLT_ALGO_CAP_CTA_SWIZZLING_SUPPORT);
  const auto splits = SplitsOf(algorithm);
  Settings settings;
  settings.id = id;
  for (const std::uint32_t tile : Ids(algorithm, CUBLASLT_ALGO_CAP_TILE_IDS)) {
    for (const std::uint32_t stages : Ids(algorithm, CUBLASLT_ALGO_CAP_STAGES_IDS)) {
      for (std::int32_t custom = 0; custom <= custom_most; ++custom) {
        for (std::uint32_t swizzle = 0; swizzle <= swizzle_most; ++swizzle) {
          for (const auto& [parts, scheme] : splits) {
            settings.tile = tile;
            settings.stages = stages;
            settings.custom = static_cast<std::uint32_t>(custom);
            settings.swizzle = swizzle;
            settings.split_k = parts;
            settings.reduction = scheme;
            if (!take(settings)) return;
          }
        }
      }
    }
  }
}

}  // namespace

void Check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string("cuBLASLt: ") + what + ": " + cublasLtGetStatusString(status));
}

Matrix::Matrix(cudaDataType_t type, std::int64_t rows, std::int64_t columns, std::int32_t batch, std::int64_t stride)
    : type_(type), elements_(rows * columns + (batch - 1) * stride) {
  Check(cublasLtMatrixLayoutCreate(&layout_, type, static_cast<std::uint64_t>(rows),
                                   static_cast<std::uint64_t>(columns), rows),
        "cublasLtMatrixLayoutCreate");
  if (batch == 1) return;
  Check(cublasLtMatrixLayoutSetAttribute(layout_, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch),
        "cublasLtMatrixLayoutSetAttribute");
  Check(cublasLtMatrixLayoutSetAttribute(layout_, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride),
        "cublasLtMatrixLayoutSetAttribute");
}

Matrix::~Matrix() {
  if (layout_ != nullptr) (void)cublasLtMatrixLayoutDestroy(layout_);
}

gpu::Buffer Matrix::Memory() const {
  unsigned char number[8];
  return gpu::Buffer(static_cast<std::size_t>(elements_) * gpu::Encode(type_, 0, number));
}

Problem::Problem(Types wanted, Matrix a, Matrix b, Matrix c, Matrix d)
    : types(wanted), first(std::move(a)), second(std::move(b)), addend(std::move(c)), result(std::move(d)) {
  Check(cublasLtMatmulDescCreate(&description, types.compute, types.scale), "cublasLtMatmulDescCreate");
}

Problem::Problem(Problem&& other) noexcept
    : types(other.types),
      first(std::move(other.first)),
      second(std::move(other.second)),
      addend(std::move(other.addend)),
      result(std::move(other.result)),
      alpha(other.alpha),
      beta(other.beta),
      description(std::exchange(other.description, nullptr)),
      vectors_(std::move(other.vectors_)) {}

Problem::~Problem() {
  if (description != nullptr) (void)cublasLtMatmulDescDestroy(description);
}

void Problem::SetBias(cudaDataType_t type, std::int64_t count) {
  unsigned char number[8];
  vectors_.emplace_back(static_cast<std::size_t>(count) * gpu::Encode(type, 0, number));
  gpu::FillRandomly(vectors_.back(), type, -1, 1, 7);
  Set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, type);
  Set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, vectors_.back().data());
}

void Problem::SetScale(cublasLtMatmulDescAttributes_t attribute) {
  vectors_.emplace_back(sizeof(float));
  gpu::FillRandomly(vectors_.back(), CUDA_R_32F, 1, 1, 0);
  Set(attribute, vectors_.back().data());
}

std::vector<Algorithm> Heuristic(const Handle& handle, const Problem& problem) {
  cublasLtMatmulPreference_t preference = nullptr;
  Check(cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
  std::array<cublasLtMatmulHeuristicResult_t, 64> results{};
  int count = 0;
  cublasStatus_t status = cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                               &kWorkspaceBytes, sizeof kWorkspaceBytes);
  if (status == CUBLAS_STATUS_SUCCESS) {
    status = cublasLtMatmulAlgoGetHeuristic(handle.get(), problem.description, problem.first.layout(),
                                            problem.second.layout(), problem.addend.layout(), problem.result.layout(),
                                            preference, static_cast<int>(results.size()), results.data(), &count);
  }
  (void)cublasLtMatmulPreferenceDestroy(preference);
  Check(status, "cublasLtMatmulAlgoGetHeuristic");
  std::vector<Algorithm> algorithms;
  std::set<std::string> known;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    if (results[i].state != CUBLAS_STATUS_SUCCESS) continue;
    const std::string name = NameOf(SettingsOf(results[i].algo));
    if (known.insert(name).second) algorithms.push_back({name, results[i].algo});
  }
  return algorithms;
}

std::vector<Algorithm> Exhaustive(const Handle& handle, const Problem& problem, std::size_t most) {
  std::vector<Algorithm> algorithms = Heuristic(handle, problem);
  std::set<std::string> known;
  for (const Algorithm& algorithm : algorithms) known.insert(algorithm.name);
  std::array<int, 256> ids{};
  int count = 0;
  Check(cublasLtMatmulAlgoGetIds(handle.get(), problem.types.compute, problem.types.scale, problem.first.type(),
                                 problem.second.type(), problem.addend.type(), problem.result.type(),
                                 static_cast<int>(ids.size()), ids.data(), &count),
        "cublasLtMatmulAlgoGetIds");
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    cublasLtMatmulAlgo_t algorithm{};
    if (Initialize(handle, problem, ids[i], algorithm) != CUBLAS_STATUS_SUCCESS) continue;
    std::size_t share = std::max<std::size_t>(most / static_cast<std::size_t>(count), 1);
    EachSetting(algorithm, ids[i], [&](const Settings& settings) {
      cublasLtMatmulAlgo_t configured{};
      if (Configure(handle, problem, settings, configured) == CUBLAS_STATUS_SUCCESS) {
        const std::string name = NameOf(settings);
        if (known.insert(name).second) {
          algorithms.push_back({name, configured});
          --share;
        }
      }
      return share > 0 && algorithms.size() < most;
    });
  }
  return algorithms;
}

std::optional<Algorithm> FindAlgorithm(const Handle& handle, const Problem& problem, const std::string& name) {
  const std::optional<Settings> settings = ParseName(name);
  if (!settings) return std::nullopt;
  Algorithm algorithm{name, {}};
  Check(Configure(handle, problem, *settings, algorithm.algorithm), "this algorithm in this setting");
  return algorithm;
}

}  // namespace cublaslt
