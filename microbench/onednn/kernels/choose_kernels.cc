#include "microbench/onednn/cpu_features.h"
#include "microbench/onednn/kernels/vector_kernels.h"

namespace infimum::cpu {

const VectorKernels& Kernels() {
  static const VectorKernels& best = Features().avx512 ? Avx512Kernels()
                                     : Features().avx2 ? Avx2Kernels()
                                                       : BaselineKernels();
  return best;
}

}  // namespace infimum::cpu
