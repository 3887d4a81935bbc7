// A matrix product as cuBLASLt sees it, and the algorithms that the library has for it, by names that say everything.
//
//   algo=21_tile=20_stages=7_splitk=1_red=0_swz=0_custom=0_inner=0_cluster=0
//
// cuBLASLt's matrices lie by columns. A row-major D = A B is D' = B' A' by columns, so that its first matrix is b, its
// second a, and its rows are the columns of the layer.
#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cuda_memory.h"

namespace cublaslt {

void Check(cublasStatus_t status, const char* what);

class Handle {
 public:
  Handle() { Check(cublasLtCreate(&handle_), "cublasLtCreate"); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { (void)cublasLtDestroy(handle_); }
  cublasLtHandle_t get() const { return handle_; }

 private:
  cublasLtHandle_t handle_ = nullptr;
};

// Matrices that lie one behind the other, each by columns; `stride` of 0: all are the same.
class Matrix {
 public:
  Matrix(cudaDataType_t type, std::int64_t rows, std::int64_t columns, std::int32_t batch = 1, std::int64_t stride = 0);
  Matrix(Matrix&& other) noexcept
      : layout_(std::exchange(other.layout_, nullptr)), type_(other.type_), elements_(other.elements_) {}
  Matrix& operator=(Matrix&&) = delete;
  ~Matrix();
  cublasLtMatrixLayout_t layout() const { return layout_; }
  cudaDataType_t type() const { return type_; }
  gpu::Buffer Memory() const;

 private:
  cublasLtMatrixLayout_t layout_ = nullptr;
  cudaDataType_t type_;
  std::int64_t elements_;
};

// result = epilogue(alpha first second + beta addend + bias)
class Problem {
 public:
  struct Types {
    cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
    cudaDataType_t scale = CUDA_R_32F;
  };
  // The addend is what beta multiplies; where beta is 0 its type is all that counts.
  Problem(Types types, Matrix first, Matrix second, Matrix addend, Matrix result);
  Problem(Problem&& other) noexcept;
  Problem& operator=(Problem&&) = delete;
  ~Problem();

  template <class Value>
  void Set(cublasLtMatmulDescAttributes_t attribute, const Value& value) {
    Check(cublasLtMatmulDescSetAttribute(description, attribute, &value, sizeof value),
          "cublasLtMatmulDescSetAttribute");
  }
  // One for each row of the result, and the epilogue that adds it.
  void SetBias(cudaDataType_t type, std::int64_t count);
  // Of 8-bit floats: a scale of one on the device.
  void SetScale(cublasLtMatmulDescAttributes_t attribute);

  Types types;
  Matrix first, second, addend, result;
  double alpha = 1, beta = 0;
  cublasLtMatmulDesc_t description = nullptr;

 private:
  std::vector<gpu::Buffer> vectors_;  // that the description points to
};

struct Algorithm {
  std::string name;
  cublasLtMatmulAlgo_t algorithm{};
};

// What cuBLASLt would choose, and its next best: at most 64.
std::vector<Algorithm> Heuristic(const Handle& handle, const Problem& problem);

// Every setting of every algorithm that cuBLASLt takes, the heuristic's first; each algorithm has the same share of
// `most`. Shapes of instructions and of clusters stay the library's.
std::vector<Algorithm> Exhaustive(const Handle& handle, const Problem& problem, std::size_t most);

// The one of this name; nullopt where it is no algorithm's name. Throws where cuBLASLt does not take it.
std::optional<Algorithm> FindAlgorithm(const Handle& handle, const Problem& problem, const std::string& name);

// What the library may use beside: as much as cuBLAS itself has on Hopper.
inline constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;

}  // namespace cublaslt
