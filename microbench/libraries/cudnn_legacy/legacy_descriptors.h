// Tensors of cuDNN's older calls, and what they return, in the runner's terms. For the legacy_*.cc files alone.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "microbench/gpu/device/gpu_program.h"
#include "microbench/gpu/device/tensor_placement.h"
#include "microbench/libraries/cudnn/cudnn_library.h"
#include "microbench/libraries/cudnn_legacy/calls/legacy_functions.h"

namespace infimum::cuda {

inline Status CheckCudnn(cudnnStatus_t status, const char* what) {
  if (status == CUDNN_STATUS_SUCCESS) return {};
  return Error{cudnn::FailureOf(status, what)};
}

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
  return CheckCudnn(CUDNN_FUNCTION(cudnnSetTensorNdDescriptor)(descriptor, known, static_cast<int>(dims.size()),
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
