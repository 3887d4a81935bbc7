// Functions, descriptors and factors of cuDNN's older calls, for the legacy_*.cc files alone.
//
//   const Descriptor<cudnnTensorDescriptor_t> tensor = CUDNN_DESCRIPTOR(TensorDescriptor);
//   Check(CUDNN_FUNCTION(cudnnSetTensorNdDescriptor)(tensor.get(), CUDNN_DATA_HALF, ...), "describing a tensor");
#pragma once

#include <cudnn.h>

#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "src/core/measurement/cudnn_layer.h"

// Most of these calls are marked as deprecated; they are what is measured here.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace cudnn {

// A function of the library that the program has opened, which is the program's to define; null where it has none of
// this name.
void* SymbolOf(const char* name);

// By the function's own type.
#define CUDNN_FUNCTION(name) (reinterpret_cast<decltype(&::name)>(cudnn::SymbolOf(#name)))

// "unsupported: ..." where cuDNN refuses what it was asked for.
inline void Check(cudnnStatus_t status, const char* what) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  // 3000 to 3999: what it does not support here; a bad parameter is, of an algorithm, the same.
  const bool is_refusal = status / 1000 == 3 || status / 1000 == 2;
  throw std::runtime_error(std::string(is_refusal ? "unsupported: cuDNN refuses it, " : "cuDNN: ") + what + ": " +
                           CUDNN_FUNCTION(cudnnGetErrorString)(status));
}

// A descriptor, destroyed with it.
template <class T>
class Descriptor {
 public:
  Descriptor(cudnnStatus_t (*create)(T*), cudnnStatus_t (*destroy)(T)) : destroy_(destroy) {
    if (create == nullptr || create(&descriptor_) != CUDNN_STATUS_SUCCESS) descriptor_ = nullptr;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (descriptor_ != nullptr) destroy_(descriptor_);
  }
  T get() const { return descriptor_; }

 private:
  T descriptor_ = nullptr;
  cudnnStatus_t (*destroy_)(T);
};

#define CUDNN_DESCRIPTOR(name) \
  { CUDNN_FUNCTION(cudnnCreate##name), CUDNN_FUNCTION(cudnnDestroy##name) }

inline cudnnDataType_t LegacyTypeOf(const std::string& name) {
  constexpr std::pair<const char*, cudnnDataType_t> kTypes[] = {
      {"f64", CUDNN_DATA_DOUBLE},    {"f32", CUDNN_DATA_FLOAT}, {"f16", CUDNN_DATA_HALF},
      {"bf16", CUDNN_DATA_BFLOAT16}, {"s8", CUDNN_DATA_INT8},   {"s32", CUDNN_DATA_INT32}};
  for (const auto& [known, type] : kTypes)
    if (name == known) return type;
  throw std::runtime_error("unsupported: cuDNN's older calls have no " + name);
}

inline std::vector<int> Ints(const Dims& numbers) {
  std::vector<int> ints;
  for (const std::int64_t number : numbers) {
    if (number > std::numeric_limits<int>::max())
      throw std::runtime_error("unsupported: cuDNN's older calls count in 32 bits");
    ints.push_back(static_cast<int>(number));
  }
  return ints;
}

// `dims`: at least four.
inline void Describe(const Descriptor<cudnnTensorDescriptor_t>& tensor, cudnnDataType_t type, const Dims& dims,
                     Layout layout, bool channels_last) {
  Form form;
  form.channels_last = channels_last;
  Check(CUDNN_FUNCTION(cudnnSetTensorNdDescriptor)(tensor.get(), type, static_cast<int>(dims.size()), Ints(dims).data(),
                                                   Ints(StridesOf(dims, layout, form)).data()),
        "describing a tensor");
}

// Factors of the result: doubles for f64, floats for all else.
inline const void* Factor(cudnnDataType_t type, int value) {
  static constexpr double kDoubles[] = {0, 1};
  static constexpr float kFloats[] = {0, 1};
  return type == CUDNN_DATA_DOUBLE ? static_cast<const void*>(&kDoubles[value]) : &kFloats[value];
}

}  // namespace cudnn
