// Functions and descriptors of cuDNN's older calls.
//
//   const Descriptor<cudnnTensorDescriptor_t> tensor = CUDNN_DESCRIPTOR(TensorDescriptor);
//   CUDNN_FUNCTION(cudnnSetTensorNdDescriptor)(tensor.get(), CUDNN_DATA_HALF, ...);
#pragma once

#include <cudnn.h>

#include <string>

namespace cudnn {

// A function of the library that the program has opened, which is the program's to define; null where it has none of
// this name.
void* SymbolOf(const char* name);

// By the function's own type.
#define CUDNN_FUNCTION(name) (reinterpret_cast<decltype(&::name)>(cudnn::SymbolOf(#name)))

// Why a call failed, "unsupported: ..." where cuDNN refuses what it was asked for; empty where it succeeded.
inline std::string FailureOf(cudnnStatus_t status, const char* what) {
  if (status == CUDNN_STATUS_SUCCESS) return "";
  // 3000 to 3999: what it does not support here; a bad parameter is, of an algorithm, the same.
  const bool is_refusal = status / 1000 == 3 || status / 1000 == 2;
  return std::string(is_refusal ? "unsupported: cuDNN refuses it, " : "cuDNN: ") + what + ": " +
         CUDNN_FUNCTION(cudnnGetErrorString)(status);
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

}  // namespace cudnn
