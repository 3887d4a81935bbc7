// cuDNN's functions and descriptors of its older calls. For the legacy_*.cc files alone.
#pragma once

#include <cudnn.h>

#include <string>
#include <utility>
#include <vector>

#include "microbench/gpu/device/gpu_program.h"
#include "microbench/gpu/device/tensor_placement.h"
#include "microbench/libraries/cudnn/cudnn_library.h"

namespace infimum::cuda {

// A function of the library by its own type: INFIMUM_CUDNN(cudnnSoftmaxForward)(handle, ...).
#define INFIMUM_CUDNN(name) (reinterpret_cast<decltype(&::name)>(CudnnLibrary::Symbol(#name)))

inline Status CheckCudnn(cudnnStatus_t status, const char* what) {
  if (status == CUDNN_STATUS_SUCCESS) return {};
  const std::string words = std::string(what) + ": " + INFIMUM_CUDNN(cudnnGetErrorString)(status);
  // 3000 to 3999: what it does not support here; a bad parameter is, of an algorithm, the same.
  const bool is_refusal = status / 1000 == 3 || status / 1000 == 2;
  return Error{(is_refusal ? "unsupported: cuDNN refuses it, " : "cuDNN: ") + words};
}

// A descriptor, destroyed with it.
template <class T>
class CudnnDescriptor {
 public:
  CudnnDescriptor(cudnnStatus_t (*create)(T*), cudnnStatus_t (*destroy)(T)) : destroy_(destroy) {
    if (create == nullptr || create(&descriptor_) != CUDNN_STATUS_SUCCESS) descriptor_ = nullptr;
  }
  CudnnDescriptor(const CudnnDescriptor&) = delete;
  CudnnDescriptor& operator=(const CudnnDescriptor&) = delete;
  ~CudnnDescriptor() {
    if (descriptor_ != nullptr) destroy_(descriptor_);
  }
  T get() const { return descriptor_; }

 private:
  T descriptor_ = nullptr;
  cudnnStatus_t (*destroy_)(T);
};

#define INFIMUM_DESCRIPTOR(type, name, member) \
  CudnnDescriptor<type> member { INFIMUM_CUDNN(cudnnCreate##name), INFIMUM_CUDNN(cudnnDestroy##name) }

inline Result<cudnnDataType_t> LegacyTypeOf(DataType type) {
  constexpr std::pair<DataType, cudnnDataType_t> kTypes[] = {
      {DataType::kF64, CUDNN_DATA_DOUBLE},    {DataType::kF32, CUDNN_DATA_FLOAT}, {DataType::kF16, CUDNN_DATA_HALF},
      {DataType::kBF16, CUDNN_DATA_BFLOAT16}, {DataType::kS8, CUDNN_DATA_INT8},   {DataType::kS32, CUDNN_DATA_INT32}};
  for (const auto& [known, legacy] : kTypes)
    if (known == type) return legacy;
  return Error{"unsupported: cuDNN's older calls have no " + std::string(Name(type))};
}

// Tensors have at least four dimensions; strides in elements.
inline Status SetTensor(cudnnTensorDescriptor_t descriptor, DataType type, const TensorPlacement& placement) {
  INFIMUM_ASSIGN_OR_RETURN(const cudnnDataType_t known, LegacyTypeOf(type));
  std::vector<int> dims, strides;
  for (std::size_t i = 0; i < placement.room.rank(); ++i) {
    if (placement.room.dims[i] > 2147483647 || placement.strides[i] > 2147483647)
      return Error{"unsupported: cuDNN's older calls count in 32 bits"};
    dims.push_back(static_cast<int>(placement.room.dims[i]));
    strides.push_back(static_cast<int>(placement.strides[i]));
  }
  return CheckCudnn(INFIMUM_CUDNN(cudnnSetTensorNdDescriptor)(descriptor, known, static_cast<int>(dims.size()),
                                                              dims.data(), strides.data()),
                    "describing a tensor");
}

// Operands and the result of a layer, lying as the host has them.
inline std::vector<GpuBinding> PlainBindings(const RegionMember& member) {
  std::vector<GpuBinding> bindings;
  const std::vector<Operand> operands = OperandsOf(member.config);
  for (std::size_t i = 0; i < operands.size(); ++i)
    bindings.push_back({member.operands[i], 0, operands[i].type, TensorPlacement::RowMajor(operands[i].shape)});
  const Operand output = OutputsOf(member.config)[0];
  bindings.push_back({{RegionOperand::Source::kMember, 0}, 0, output.type, TensorPlacement::RowMajor(output.shape)});
  return bindings;
}

// Factors of the result: doubles for f64, floats for all else.
struct LegacyFactors {
  explicit LegacyFactors(DataType type) : is_double(type == DataType::kF64) {}
  const void* one() const { return is_double ? static_cast<const void*>(&one64) : &one32; }
  const void* zero() const { return is_double ? static_cast<const void*>(&zero64) : &zero32; }

  bool is_double;
  double one64 = 1, zero64 = 0;
  float one32 = 1, zero32 = 0;
};

}  // namespace infimum::cuda
