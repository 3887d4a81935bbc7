#include "microbench/kernels/cpu/vector/cpu_features.h"
#include "microbench/kernels/cpu/vector/vector_kernels.h"

namespace infimum::cpu {

const VectorKernels& Kernels() {
  static const VectorKernels& best = Features().avx512 ? Avx512Kernels()
                                     : Features().avx2 ? Avx2Kernels()
                                                       : BaselineKernels();
  return best;
}

}  // namespace infimum::cpu
