// Loops that do nothing but reach a processor's limits.
#pragma once

#include "microbench/kernels/cpu/vector/isa.h"

namespace infimum::cpu::INFIMUM_ISA {

double MultiplyAddF32(std::int64_t rounds, float* sink);
double MultiplyAddF64(std::int64_t rounds, double* sink);
double MultiplyAddS8(std::int64_t rounds, std::int32_t* sink);
double Read(const void* from, std::int64_t bytes);
double ReadPrefetched(const void* from, std::int64_t bytes);
void Write(void* to, std::int64_t bytes);
void WriteStreaming(void* to, std::int64_t bytes);
void Copy(const void* from, void* to, std::int64_t bytes);
void CopyStreaming(const void* from, void* to, std::int64_t bytes);

}  // namespace infimum::cpu::INFIMUM_ISA
