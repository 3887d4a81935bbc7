// The transforms of minimal filtering F(2x2, 3x3) and F(4x4, 3x3), one tile of an image with the channels last, a
// vector of channels at a time: B^T d B before the products and A^T m A behind them, with the points 0, 1, -1 and for
// the larger one 2, -2 (Winograd 1980; Lavin and Gray, arXiv 1509.09308).
#include "microbench/kernels/cpu/vector/isa.h"

namespace infimum::cpu::INFIMUM_ISA {
namespace {

inline Floats Load(const float* from) { return *reinterpret_cast<const UnalignedFloats*>(from); }
inline void Store(float* to, Floats value) { *reinterpret_cast<UnalignedFloats*>(to) = value; }

inline void TransformInput(const Floats (&d)[4], Floats (&t)[4]) {
  t[0] = d[0] - d[2];
  t[1] = d[1] + d[2];
  t[2] = d[2] - d[1];
  t[3] = d[1] - d[3];
}
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

inline void TransformOutput(const Floats (&m)[4], Floats (&y)[2]) {
  y[0] = m[0] + m[1] + m[2];
  y[1] = m[1] - m[2] - m[3];
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

template <int kIn>
void Input(const float* image, const ImageTile& tile, float* to, std::int64_t to_step) {
  std::int64_t offsets[kIn][kIn];
  for (int row = 0; row < kIn; ++row)
    for (int column = 0; column < kIn; ++column) offsets[row][column] = OffsetOf(tile, row, column);
  for (std::int64_t c = 0; c < tile.channels; c += kFloats) {
    Floats columns[kIn][kIn];  // by column, then by row: the rows' transforms
    for (int row = 0; row < kIn; ++row) {
      Floats d[kIn], t[kIn];
      for (int column = 0; column < kIn; ++column) {
        const std::int64_t offset = offsets[row][column];
        d[column] = offset < 0 ? Floats{} : Load(image + offset + c);
      }
      TransformInput(d, t);
      for (int column = 0; column < kIn; ++column) columns[column][row] = t[column];
    }
    for (int column = 0; column < kIn; ++column) {
      Floats t[kIn];
      TransformInput(columns[column], t);
      for (int row = 0; row < kIn; ++row) Store(to + (row * kIn + column) * to_step + c, t[row]);
    }
  }
}

template <int kIn, int kOut>
void Output(const float* from, std::int64_t from_step, const ImageTile& tile, std::int64_t columns,
            const FilterEnd& end, float* image) {
  std::int64_t offsets[kOut][kOut];
  for (int row = 0; row < kOut; ++row)
    for (int column = 0; column < kOut; ++column) offsets[row][column] = OffsetOf(tile, row, column);
  const Floats low = end.low - Floats{}, high = end.high - Floats{};
  for (std::int64_t c = 0; c < columns; c += kFloats) {
    Floats rows[kOut][kIn];  // by row of the result: the columns' transforms
    for (int column = 0; column < kIn; ++column) {
      Floats m[kIn], y[kOut];
      for (int row = 0; row < kIn; ++row) m[row] = Load(from + (row * kIn + column) * from_step + c);
      TransformOutput(m, y);
      for (int row = 0; row < kOut; ++row) rows[row][column] = y[row];
    }
    const Floats bias = end.bias == nullptr ? Floats{} : Load(end.bias + c);
    for (int row = 0; row < kOut; ++row) {
      Floats y[kOut];
      TransformOutput(rows[row], y);
      for (int column = 0; column < kOut; ++column) {
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

}  // namespace

void FilterInput(std::int64_t outputs, const float* image, const ImageTile& tile, float* to, std::int64_t to_step) {
  (outputs == 2 ? Input<4> : Input<6>)(image, tile, to, to_step);
}

void FilterOutput(std::int64_t outputs, const float* from, std::int64_t from_step, const ImageTile& tile,
                  std::int64_t columns, const FilterEnd& end, float* image) {
  (outputs == 2 ? Output<4, 2> : Output<6, 4>)(from, from_step, tile, columns, end, image);
}

}  // namespace infimum::cpu::INFIMUM_ISA
