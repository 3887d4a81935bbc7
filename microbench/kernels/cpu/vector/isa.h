// What every source in this folder that is compiled once for each instruction set begins with: its namespace, vectors
// as wide as the set's registers, and the functions that the set's table is made of.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "microbench/kernels/cpu/vector/vector_kernels.h"

#if defined(__AVX512F__)
#define INFIMUM_ISA avx512
#define INFIMUM_ISA_NAME "avx512"
#define INFIMUM_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define INFIMUM_ISA avx2
#define INFIMUM_ISA_NAME "avx2"
#define INFIMUM_VECTOR_BYTES 32
#else
#define INFIMUM_ISA sse2
#define INFIMUM_ISA_NAME "sse2"
#define INFIMUM_VECTOR_BYTES 16
#endif

namespace infimum::cpu::INFIMUM_ISA {

inline constexpr int kBytes = INFIMUM_VECTOR_BYTES;
inline constexpr int kFloats = kBytes / 4;

typedef float Floats __attribute__((vector_size(INFIMUM_VECTOR_BYTES)));
typedef double Doubles __attribute__((vector_size(INFIMUM_VECTOR_BYTES)));
typedef std::int64_t Words __attribute__((vector_size(INFIMUM_VECTOR_BYTES)));
typedef std::int32_t Integers __attribute__((vector_size(INFIMUM_VECTOR_BYTES)));
typedef float UnalignedFloats __attribute__((vector_size(INFIMUM_VECTOR_BYTES), aligned(4), may_alias));
typedef std::int64_t AliasingWords __attribute__((vector_size(INFIMUM_VECTOR_BYTES), may_alias));

// One vector past the caches; `to` is aligned to it. A fence makes such writes visible to others.
#if defined(__AVX512F__)
inline void StreamWords(void* to, Words value) { _mm512_stream_si512(static_cast<__m512i*>(to), (__m512i)value); }
#elif defined(__AVX2__)
inline void StreamWords(void* to, Words value) { _mm256_stream_si256(static_cast<__m256i*>(to), (__m256i)value); }
#else
inline void StreamWords(void* to, Words value) { _mm_stream_si128(static_cast<__m128i*>(to), (__m128i)value); }
#endif

#define INFIMUM_KERNEL(name, Function, Result, parameters) Result Function parameters;
#include "microbench/kernels/cpu/vector/vector_kernels.def"

}  // namespace infimum::cpu::INFIMUM_ISA
