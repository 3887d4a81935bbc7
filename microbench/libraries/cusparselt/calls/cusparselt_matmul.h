// One GEMM with sparse weights (2:4) in cuSPARSELt: its descriptors, what the library answers about it, and a chosen
// algorithm that runs on weights that were compressed before.
//
//   const cublaslt::Gemm gemm{.rows = 128, .columns = 3072, .depth = 768, .a = "f16", .b = "f16", .result = "f16",
//                             .b_sparse = true};
//   Matmul matmul(functions, handle, gemm, 32 << 20);
//   matmul.Choose(cublaslt::Heuristic(matmul)[0]);
//   matmul.Compress(tensors, compressed, buffer, stream);         // matmul.compressed(), matmul.buffer() bytes
//   matmul.Run({.a = a, .b = compressed, .result = result}, workspace, stream);
//
// Matrices are as in cublaslt_matmul.h: the structured one is b, their first. Algorithms are named as cublaslt::Format
// has it of sparse ones.
#pragma once

#include <cusparseLt.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "microbench/libraries/cublaslt/calls/cublaslt_matmul.h"

namespace cusparselt {

// cuSPARSELt's functions (0.8 or later): linked, or looked up in a library that was loaded.
#define CUSPARSELT_FUNCTIONS(DO) \
  DO(Init)                       \
  DO(Destroy)                    \
  DO(GetProperty)                \
  DO(GetErrorString)             \
  DO(DenseDescriptorInit)        \
  DO(StructuredDescriptorInit)   \
  DO(MatDescriptorDestroy)       \
  DO(MatmulDescriptorInit)       \
  DO(MatmulDescSetAttribute)     \
  DO(MatmulAlgSelectionInit)     \
  DO(MatmulAlgSelectionDestroy)  \
  DO(MatmulAlgSetAttribute)      \
  DO(MatmulAlgGetAttribute)      \
  DO(MatmulGetWorkspace)         \
  DO(MatmulPlanInit)             \
  DO(MatmulPlanDestroy)          \
  DO(Matmul)                     \
  DO(SpMMAPrune)                 \
  DO(SpMMACompressedSize)        \
  DO(SpMMACompress)
struct Functions {
#define CUSPARSELT_POINTER(name) decltype(&::cusparseLt##name) name = nullptr;
  CUSPARSELT_FUNCTIONS(CUSPARSELT_POINTER)
#undef CUSPARSELT_POINTER
};

// "0.10.0"
std::string Version(const Functions& lt);

// Throws where the status is no success; the message begins with "unsupported: " where cuSPARSELt refuses, rather than
// fails.
void Check(const Functions& lt, cusparseStatus_t status, const char* step);

// Of the current device's compute capability; 0 where there is none.
int DeviceMajor();

class Matmul : public cublaslt::Answers {
 public:
  // All live longer; `most_workspace`: scratch memory that an algorithm may use; `device`: the major number of its
  // compute capability, which decides how a depth may be cut.
  Matmul(const Functions& lt, const cusparseLtHandle_t& handle, cublaslt::Gemm gemm, std::size_t most_workspace,
         int device = DeviceMajor());
  Matmul(const Matmul&) = delete;
  Matmul& operator=(const Matmul&) = delete;
  ~Matmul() override;

  // Its own choice, and on devices that have them the same by segments of the depth: it ranks no others.
  std::vector<cublaslt::Algorithm> Suggestions() override;
  std::vector<std::int32_t> Ids() override;
  std::optional<cublaslt::Capabilities> CapabilitiesOf(std::int32_t id) override;
  bool Accepts(const cublaslt::Algorithm& algorithm) override;

  // The algorithm that Run runs. Throws where it is not accepted.
  void Choose(const cublaslt::Algorithm& algorithm);
  // The chosen algorithm's, in bytes: scratch memory, compressed weights, scratch memory of Compress.
  std::size_t workspace() const { return workspace_; }
  std::size_t compressed() const { return compressed_; }
  std::size_t buffer() const { return buffer_; }
  // Zeros where weights have none: the smaller ones of each four.
  void Prune(const void* dense, void* pruned, cudaStream_t stream);
  // Also tells the plan where its bias is: at that address until the next Compress().
  void Compress(const cublaslt::Matmul::Tensors& tensors, void* compressed, void* buffer, cudaStream_t stream);
  // `tensors.b` is compressed, and its bias need not be there.
  void Run(const cublaslt::Matmul::Tensors& tensors, void* workspace, cudaStream_t stream);

 private:
  void Build();
  void Free();
  void FreePlan();
  void AskForSelection();
  void MakePlan(const void* bias);
  cusparseLtMatDescriptor_t* Add(std::int64_t rows, std::int64_t columns, const std::string& type, bool structured);
  template <class Value>
  void Describe(cusparseLtMatmulDescAttribute_t attribute, const Value& value);
  std::int32_t Setting(cusparseLtMatmulAlgAttribute_t attribute);

  const Functions& lt_;
  const cusparseLtHandle_t& handle_;
  cublaslt::Gemm gemm_;
  std::size_t most_workspace_;
  int device_;
  // Weights, input, what is added, result: those that are described.
  cusparseLtMatDescriptor_t matrices_[4] = {};
  int described_ = 0;
  cusparseLtMatmulDescriptor_t description_ = {};
  cusparseLtMatmulAlgSelection_t selection_ = {};
  cusparseLtMatmulPlan_t plan_ = {};
  bool has_selection_ = false, has_plan_ = false;
  cublaslt::Algorithm preferred_;  // its mode and buffers are 0: as it chooses
  std::size_t workspace_ = 0, compressed_ = 0, buffer_ = 0;
};

}  // namespace cusparselt
