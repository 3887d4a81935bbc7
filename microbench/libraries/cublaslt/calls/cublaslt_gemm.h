// One GEMM as cuBLASLt, cuBLAS and cuSPARSELt are asked about it, without any of their types.
//
//   const Gemm gemm{.rows = 128, .columns = 3072, .depth = 768, .a = "f16", .b = "f16", .result = "f16"};
#pragma once

#include <cstdint>
#include <string>

namespace cublaslt {

// result = activation(factor a b + addend + bias)
struct Gemm {
  std::int64_t rows = 1, columns = 1, depth = 1, batch = 1;
  std::string a = "f32", b = "f32", result = "f32";  // types
  // Elements from one matrix of the batch to the next; 0: the same for all.
  std::int64_t a_stride = 0, b_stride = 0;
  // Of an operand in 8 or 4 bits: "vec16_ue4m3", "vec32_ue8m0", "outer_vec_32f", "vec128_32f", "blk128x128_32f".
  std::string a_scales{}, b_scales{};
  std::string bias{};        // the type of one number for each column; empty: none
  bool addend = false;       // a matrix of the result's shape and type
  std::string activation{};  // "relu", "gelu_tanh"
  double factor = 1;
  bool b_sparse = false;  // 2:4 along the depth, for cuSPARSELt alone
  // What forms of one layer differ in.
  std::string sums = "f32";   // "f32", "tf32", "f16", "f64", "s32"; "fast": of 8-bit floats, in fewer bits
  bool b_transposed = false;  // b is stored as columns x depth
};

// An operand's scales in memory: how many numbers with what fills up their layout, and of which type.
struct ScaleMemory {
  std::int64_t count = 0;
  std::string type{};
};
inline ScaleMemory ScalesOf(const Gemm& gemm, const std::string& scales, bool of_b) {
  const auto parts = [](std::int64_t count, std::int64_t part) { return (count + part - 1) / part; };
  const auto whole = [&](std::int64_t count, std::int64_t multiple) { return parts(count, multiple) * multiple; };
  const std::int64_t vectors = of_b ? gemm.columns : gemm.rows;
  if (scales.empty()) return {};
  if (scales == "vec16_ue4m3") return {whole(vectors, 128) * whole(parts(gemm.depth, 16), 4), "f8e4m3"};
  if (scales == "vec32_ue8m0") return {whole(vectors, 128) * whole(parts(gemm.depth, 32), 4), "f8e8m0"};
  if (scales == "outer_vec_32f") return {vectors, "f32"};
  const std::int64_t blocks = parts(gemm.depth, 128);
  return {scales == "vec128_32f" ? vectors * blocks : parts(vectors, 128) * whole(blocks, 4), "f32"};
}

}  // namespace cublaslt
