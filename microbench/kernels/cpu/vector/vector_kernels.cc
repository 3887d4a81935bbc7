// Compiled once for each instruction set: the table of its kernels.
#include "microbench/kernels/cpu/vector/vector_kernels.h"

#include "microbench/kernels/cpu/vector/isa_kernels.h"

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
    .find_unary = FindUnary,
    .find_binary = FindBinary,
    .find_unary_streamed = FindUnaryStreamed,
    .find_binary_streamed = FindBinaryStreamed,
    .find_where = FindWhere,
    .find_convert = FindConvert,
    .find_quantize = FindQuantize,
    .find_dequantize = FindDequantize,
    .find_reduction = FindReduction,
    .sum_row = SumRow,
    .sum_square_row = SumSquareRow,
    .maximum_row = MaximumRow,
    .minimum_row = MinimumRow,
    .sum_deviation_row = SumDeviationRow,
    .exponentials_row = ExponentialsRow,
    .arg_maximum_row = ArgMaximumRow,
    .arg_minimum_row = ArgMinimumRow,
    .affine_row = AffineRow,
    .normalize_row = NormalizeRow,
    .accumulate_sum = AccumulateSum,
    .accumulate_sum_square = AccumulateSumSquare,
    .accumulate_maximum = AccumulateMaximum,
    .accumulate_exponentials = AccumulateExponentials,
    .multiply_row = MultiplyRow,
    .subtract_row = SubtractRow,
    .response_row = ResponseRow,
    .blend_two = BlendTwo,
    .transpose_tile = TransposeTile,
    .window_maximum_row = WindowMaximumRow,
    .window_sum_row = WindowSumRow,
    .matrix_vector = MatrixVector,
    .pick_two_row = PickTwoRow,
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
