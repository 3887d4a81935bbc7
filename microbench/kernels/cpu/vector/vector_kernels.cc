// Compiled once for each instruction set: the table of its kernels.
#include "microbench/kernels/cpu/vector/vector_kernels.h"

#include "microbench/kernels/cpu/vector/isa.h"

namespace infimum::cpu {
namespace INFIMUM_ISA {

static const VectorKernels kTable = {
    .name = INFIMUM_ISA_NAME,
#define INFIMUM_KERNEL(name, Function, Result, parameters) .name = Function,
#include "microbench/kernels/cpu/vector/vector_kernels.def"
};

}  // namespace INFIMUM_ISA

#if INFIMUM_VECTOR_BYTES == 64
const VectorKernels& Avx512Kernels() { return INFIMUM_ISA::kTable; }
#elif INFIMUM_VECTOR_BYTES == 32
const VectorKernels& Avx2Kernels() { return INFIMUM_ISA::kTable; }
#else
const VectorKernels& BaselineKernels() { return INFIMUM_ISA::kTable; }
#endif

}  // namespace infimum::cpu
