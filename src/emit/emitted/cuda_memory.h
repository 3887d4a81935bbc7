// Memory of the GPU, filled with random numbers, and errors of CUDA as exceptions.
//
//   Buffer weights(bytes);
//   FillRandomly(weights, CUDA_R_16F, -1, 1, 42);
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime_api.h>
#include <library_types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace gpu {

inline void Check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // else the next call would report it again
  throw std::runtime_error(std::string("CUDA: ") + what + ": " + cudaGetErrorString(status));
}

// Zeros.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes) : bytes_(bytes) {
    Check(cudaMalloc(&data_, std::max<std::size_t>(bytes, 1)), "no memory");
    const cudaError_t status = cudaMemset(data_, 0, bytes);
    if (status != cudaSuccess) (void)cudaFree(data_);
    Check(status, "memory could not be written");
  }
  Buffer(Buffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  Buffer& operator=(Buffer&&) = delete;
  ~Buffer() { (void)cudaFree(data_); }
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

class Stream {
 public:
  Stream() { Check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "no stream"); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { (void)cudaStreamDestroy(stream_); }
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

// One number as the bytes of its type; how many they are. Of 4-bit floats and powers of two, which older toolkits do
// not know, the number is a byte's code: of two numbers, and of an exponent.
inline std::size_t Encode(cudaDataType type, double number, unsigned char* bytes) {
  const auto store = [&](auto value) {
    std::memcpy(bytes, &value, sizeof value);
    return sizeof value;
  };
  switch (type) {
    case CUDA_R_64F:
      return store(number);
    case CUDA_R_32F:
      return store(static_cast<float>(number));
    case CUDA_R_16F:
      return store(__float2half(static_cast<float>(number)));
    case CUDA_R_16BF:
      return store(__float2bfloat16(static_cast<float>(number)));
    case CUDA_R_8F_E4M3:
      return store(__nv_fp8_e4m3(static_cast<float>(number)));
    case CUDA_R_8F_E5M2:
      return store(__nv_fp8_e5m2(static_cast<float>(number)));
    case CUDA_R_64I:
      return store(static_cast<std::int64_t>(number));
    case CUDA_R_32I:
      return store(static_cast<std::int32_t>(number));
    case CUDA_R_8I:
      return store(static_cast<std::int8_t>(number));
#if CUDART_VERSION >= 12080
    case CUDA_R_4F_E2M1:
    case CUDA_R_8F_UE8M0:
#endif
    case CUDA_R_8U:
      return store(static_cast<std::uint8_t>(number));
    default:
      throw std::runtime_error("no random numbers of CUDA's data type " + std::to_string(type));
  }
}

inline std::size_t BytesOf(cudaDataType type, std::size_t numbers) {
#if CUDART_VERSION >= 12080
  if (type == CUDA_R_4F_E2M1) return (numbers + 1) / 2;
#endif
  unsigned char number[8];
  return numbers * Encode(type, 0, number);
}

// Uniform numbers, the same in each run: kernels run up to an eighth faster on zeros. A million of them, again and
// again where the buffer is larger.
inline void FillRandomly(const Buffer& buffer, cudaDataType type, double low, double high, std::uint64_t seed) {
  constexpr std::size_t kPeriod = 1'048'573;  // a prime, so that no row repeats the one before
  unsigned char bytes[8];
  const std::size_t size = Encode(type, low, bytes);
  std::vector<unsigned char> block;
  block.reserve(std::min(buffer.bytes(), kPeriod * size));
  while (block.size() < buffer.bytes() && block.size() < kPeriod * size) {
    std::uint64_t bits = (seed += 0x9e3779b97f4a7c15U);  // splitmix64
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
    bits ^= bits >> 31;
    Encode(type, low + (high - low) * static_cast<double>(bits >> 11) * 0x1p-53, bytes);
    block.insert(block.end(), bytes, bytes + size);
  }
  auto* const data = static_cast<unsigned char*>(buffer.data());
  for (std::size_t start = 0; start < buffer.bytes(); start += block.size()) {
    const std::size_t length = std::min(block.size(), buffer.bytes() - start);
    Check(cudaMemcpy(data + start, block.data(), length, cudaMemcpyHostToDevice), "memory could not be filled");
  }
}

}  // namespace gpu
