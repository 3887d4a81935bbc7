// Arithmetic that only some processors have, one function each, compiled for exactly that extension.
// Call one only where cpu_features.h says so. Each returns the operations done.
#pragma once

#include <cstdint>

namespace infimum::cpu {

double DotS8Avx512Vnni(std::int64_t rounds, std::int32_t* sink);
double DotS8AvxVnni(std::int64_t rounds, std::int32_t* sink);
double DotBf16Avx512(std::int64_t rounds, float* sink);
double MultiplyAddF16Avx512(std::int64_t rounds, float* sink);

// Asks the operating system for the tile registers; false where it refuses.
bool AllowTiles();
double TilesBf16(std::int64_t rounds);
double TilesS8(std::int64_t rounds);

}  // namespace infimum::cpu
