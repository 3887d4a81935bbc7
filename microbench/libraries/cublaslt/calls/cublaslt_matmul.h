// One GEMM in cuBLASLt: its descriptors, what the library answers about it, and a chosen algorithm that runs.
//
//   const Gemm gemm{.rows = 128, .columns = 3072, .depth = 768, .a = "f16", .b = "f16", .result = "f16"};
//   Matmul matmul(functions, handle, gemm, 32 << 20);
//   matmul.Choose(Heuristic(matmul)[0]);
//   matmul.Run({.a = a, .b = b, .result = result}, workspace, stream);
//
// Matrices are row-major. cuBLASLt's are column-major, so D = A B is computed as D' = B' A': its first matrix is b, its
// second a, and its rows are the columns of the result.
#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cublaslt_algorithms.h"
#include "cublaslt_gemm.h"

namespace cublaslt {

// cuBLASLt's functions: linked, or looked up in a library that was loaded.
#define CUBLASLT_FUNCTIONS(DO)     \
  DO(Create)                       \
  DO(Destroy)                      \
  DO(GetVersion)                   \
  DO(GetStatusString)              \
  DO(Matmul)                       \
  DO(MatmulDescCreate)             \
  DO(MatmulDescDestroy)            \
  DO(MatmulDescSetAttribute)       \
  DO(MatrixLayoutCreate)           \
  DO(MatrixLayoutDestroy)          \
  DO(MatrixLayoutSetAttribute)     \
  DO(MatmulPreferenceCreate)       \
  DO(MatmulPreferenceDestroy)      \
  DO(MatmulPreferenceSetAttribute) \
  DO(MatmulAlgoGetHeuristic)       \
  DO(MatmulAlgoGetIds)             \
  DO(MatmulAlgoInit)               \
  DO(MatmulAlgoCapGetAttribute)    \
  DO(MatmulAlgoConfigSetAttribute) \
  DO(MatmulAlgoConfigGetAttribute) \
  DO(MatmulAlgoCheck)
struct Functions {
#define CUBLASLT_POINTER(name) decltype(&::cublasLt##name) name = nullptr;
  CUBLASLT_FUNCTIONS(CUBLASLT_POINTER)
#undef CUBLASLT_POINTER
};

// The library's types; std::runtime_error for what it has none for.
cudaDataType_t TypeOf(const std::string& name);
cublasComputeType_t ComputeTypeOf(const Gemm& gemm);
// Of alpha and beta: that of the sums, but f32 where sums of integers become another type.
cudaDataType_t ScaleTypeOf(const Gemm& gemm);

// A number as the library reads alpha and beta.
struct Factor {
  Factor(double value, cudaDataType_t type);
  alignas(8) unsigned char bytes[8] = {};
};

// "13.1.0"
std::string Version(const Functions& lt);

// Throws where the status is no success; the message begins with "unsupported: " where cuBLASLt refuses, rather than
// fails.
void Check(const Functions& lt, cublasStatus_t status, const char* step);

class Matmul : public Answers {
 public:
  // All live longer; `most_workspace`: scratch memory that an algorithm may use.
  Matmul(const Functions& lt, cublasLtHandle_t handle, Gemm gemm, std::size_t most_workspace);
  Matmul(const Matmul&) = delete;
  Matmul& operator=(const Matmul&) = delete;
  ~Matmul() override;

  std::vector<Algorithm> Suggestions() override;
  std::vector<std::int32_t> Ids() override;
  std::optional<Capabilities> CapabilitiesOf(std::int32_t id) override;
  bool Accepts(const Algorithm& algorithm) override;

  // The algorithm that Run runs: the library's own suggestion where it is one, which may have settings without a name,
  // else one with these settings. Throws where it is not accepted.
  void Choose(const Algorithm& algorithm);
  // The chosen algorithm's, in bytes.
  std::size_t workspace() const { return choice_.workspaceSize; }
  struct Tensors {
    const void *a = nullptr, *b = nullptr, *a_scales = nullptr, *b_scales = nullptr;
    const void *bias = nullptr, *addend = nullptr;
    void* result = nullptr;
  };
  void Run(const Tensors& tensors, void* workspace, cudaStream_t stream);

 private:
  template <class Value>
  void Describe(cublasLtMatmulDescAttributes_t attribute, const Value& value);
  cublasLtMatrixLayout_t MakeLayout(cudaDataType_t type, std::int64_t rows, std::int64_t columns, std::int64_t stride);
  void Build();
  void Free();
  void AskForSuggestions();
  cublasLtMatmulAlgo_t Initialize(std::int32_t id);
  // What cuBLASLt makes of the settings; throws where it does not accept them.
  cublasLtMatmulHeuristicResult_t Configure(const Algorithm& algorithm);
  Algorithm Read(const cublasLtMatmulAlgo_t& algorithm) const;

  const Functions& lt_;
  cublasLtHandle_t handle_;
  Gemm gemm_;
  std::size_t most_workspace_;
  cublasComputeType_t compute_type_;
  cudaDataType_t scale_type_, a_type_, b_type_, addend_type_, result_type_;
  Factor alpha_, beta_;
  cublasLtMatmulDesc_t description_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, addend_ = nullptr, result_ = nullptr;
  std::vector<cublasLtMatmulHeuristicResult_t> suggestions_;
  cublasLtMatmulHeuristicResult_t choice_{};
};

}  // namespace cublaslt
