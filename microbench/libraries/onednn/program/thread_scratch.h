// Rows of f32 for each thread, made before anything is timed.
//
//   INFIMUM_ASSIGN_OR_RETURN(const auto scratch, ThreadScratch::Make(768));
//   float* row = scratch->Row(1);          the calling thread's second of two rows of 768
#pragma once

#include <omp.h>

#include <cstdint>
#include <memory>

#include "microbench/reference/host_tensor.h"

namespace infimum::cpu {

class ThreadScratch {
 public:
  static Result<std::shared_ptr<ThreadScratch>> Make(std::int64_t floats, std::int64_t rows = 2) {
    auto scratch = std::make_shared<ThreadScratch>();
    scratch->stride_ = (floats + 31) / 16 * 16;
    scratch->rows_ = rows;
    const auto threads = static_cast<std::int64_t>(omp_get_max_threads());
    INFIMUM_ASSIGN_OR_RETURN(scratch->buffer_,
                             AlignedBuffer::Make(static_cast<std::size_t>(threads * rows * scratch->stride_) * 4));
    return scratch;
  }
  float* Row(std::int64_t row) const {
    return static_cast<float*>(buffer_.data()) + (omp_get_thread_num() * rows_ + row) * stride_;
  }

 private:
  AlignedBuffer buffer_;
  std::int64_t stride_ = 0;
  std::int64_t rows_ = 0;
};

}  // namespace infimum::cpu
