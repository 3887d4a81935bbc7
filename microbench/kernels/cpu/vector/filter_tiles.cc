// The transforms of minimal filtering F(4x4, 3x3), one tile of an image with the channels last, a vector of channels at
// a time: B^T d B before the products and A^T m A behind them, with the points 0, 1, -1, 2, -2 (Winograd 1980; Lavin
// and Gray, arXiv 1509.09308).
#include "microbench/kernels/cpu/vector/isa.h"

namespace infimum::cpu::INFIMUM_ISA {
namespace {

inline Floats Load(const float* from) { return *reinterpret_cast<const UnalignedFloats*>(from); }
inline void Store(float* to, Floats value) { *reinterpret_cast<UnalignedFloats*>(to) = value; }

inline void TransformInput(const Floats (&d)[6], Floats (&t)[6]) {
  const Floats even = d[4] - 4 * d[2], odd = d[3] - 4 * d[1];
  const Floats even2 = d[4] - d[2], odd2 = 2 * (d[3] - d[1]);
  t[0] = even + 4 * d[0] - d[2];
  t[1] = even + odd;
  t[2] = even - odd;
  t[3] = even2 + odd2;
  t[4] = even2 - odd2;
  t[5] = d[5] - 4 * d[3] - odd;
}

inline void TransformOutput(const Floats (&m)[6], Floats (&y)[4]) {
  const Floats sum = m[1] + m[2], difference = m[1] - m[2];
  const Floats sum2 = m[3] + m[4], difference2 = m[3] - m[4];
  y[0] = m[0] + sum + sum2;
  y[1] = difference + 2 * difference2;
  y[2] = sum + 4 * sum2;
  y[3] = difference + 8 * difference2 + m[5];
}

// Of a tile the pixel in this row and column, where it is inside the image.
inline std::int64_t OffsetOf(const ImageTile& tile, std::int64_t row, std::int64_t column) {
  const std::int64_t y = tile.y + row, x = tile.x + column;
  return y >= 0 && y < tile.height && x >= 0 && x < tile.width ? (y * tile.width + x) * tile.channels : -1;
}

}  // namespace

void FilterInput(const float* image, const ImageTile& tile, float* to, std::int64_t to_step) {
  std::int64_t offsets[6][6];
  for (int row = 0; row < 6; ++row)
    for (int column = 0; column < 6; ++column) offsets[row][column] = OffsetOf(tile, row, column);
  for (std::int64_t c = 0; c < tile.channels; c += kFloats) {
    Floats rows[6][6];  // by row of the tile: its transform
    for (int row = 0; row < 6; ++row) {
      Floats d[6];
      for (int column = 0; column < 6; ++column) {
        const std::int64_t offset = offsets[row][column];
        d[column] = offset < 0 ? Floats{} : Load(image + offset + c);
      }
      TransformInput(d, rows[row]);
    }
    for (int column = 0; column < 6; ++column) {
      const Floats d[6] = {rows[0][column], rows[1][column], rows[2][column],
                           rows[3][column], rows[4][column], rows[5][column]};
      Floats t[6];
      TransformInput(d, t);
      for (int row = 0; row < 6; ++row) Store(to + (row * 6 + column) * to_step + c, t[row]);
    }
  }
}

void FilterOutput(const float* from, std::int64_t from_step, const ImageTile& tile, std::int64_t columns,
                  const FilterEnd& end, float* image) {
  std::int64_t offsets[4][4];
  for (int row = 0; row < 4; ++row)
    for (int column = 0; column < 4; ++column) offsets[row][column] = OffsetOf(tile, row, column);
  const Floats low = Floats{} + end.low, high = Floats{} + end.high;
  for (std::int64_t c = 0; c < columns; c += kFloats) {
    Floats columns_of[4][6];  // by row of the result
    for (int column = 0; column < 6; ++column) {
      Floats m[6], y[4];
      for (int row = 0; row < 6; ++row) m[row] = Load(from + (row * 6 + column) * from_step + c);
      TransformOutput(m, y);
      for (int row = 0; row < 4; ++row) columns_of[row][column] = y[row];
    }
    const Floats bias = end.bias == nullptr ? Floats{} : Load(end.bias + c);
    for (int row = 0; row < 4; ++row) {
      Floats y[4];
      TransformOutput(columns_of[row], y);
      for (int column = 0; column < 4; ++column) {
        const std::int64_t offset = offsets[row][column];
        if (offset < 0) continue;
        Floats value = y[column] + bias;
        if (end.added != nullptr) value += Load(end.added + offset + c);
        value = value < low ? low : value;
        Store(image + offset + c, value > high ? high : value);
      }
    }
  }
}

}  // namespace infimum::cpu::INFIMUM_ISA
