// Compiled once for each instruction set: the table of its kernels.
#include "microbench/onednn/kernels/vector_kernels.h"

#include "microbench/onednn/kernels/peak_kernels.h"

namespace infimum::cpu {
namespace INFIMUM_ISA {

static const VectorKernels kTable = {
    .name = INFIMUM_ISA_NAME,
    .multiply_add_f32 = MultiplyAddF32,
    .multiply_add_f64 = MultiplyAddF64,
    .multiply_add_s8 = MultiplyAddS8,
    .read = Read,
    .read_prefetched = ReadPrefetched,
    .write = Write,
    .write_streaming = WriteStreaming,
    .copy = Copy,
    .copy_streaming = CopyStreaming,
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
