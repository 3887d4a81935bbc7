// The transforms of minimal filtering F(2x2, 3x3) and F(4x4, 3x3), one tile of an image, a vector of channels
// at a time: B^T d B before the products and A^T m A behind them, with the points 0, 1, -1 and for
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

// Where a tile's pixels lie in their image; less than 0 outside of it, which a tile that is inside need not ask.
template <int kSize, bool kInside>
class Pixels {
 public:
  explicit Pixels(const ImageTile& tile)
      : first_((tile.y * tile.width + tile.x) * tile.block), row_(tile.width * tile.block), column_(tile.block) {
    if constexpr (kInside) return;
    for (int row = 0; row < kSize; ++row) {
      for (int column = 0; column < kSize; ++column) {
        const std::int64_t y = tile.y + row, x = tile.x + column;
        const bool is_inside = y >= 0 && y < tile.height && x >= 0 && x < tile.width;
        offsets_[row][column] = is_inside ? first_ + row * row_ + column * column_ : -1;
      }
    }
  }
  std::int64_t At(int row, int column) const {
    if constexpr (kInside) return first_ + row * row_ + column * column_;
    return offsets_[row][column];
  }

 private:
  std::int64_t first_, row_, column_;
  std::int64_t offsets_[kInside ? 1 : kSize][kSize];
};

bool IsInside(const ImageTile& tile, std::int64_t size) {
  return tile.y >= 0 && tile.x >= 0 && tile.y + size <= tile.height && tile.x + size <= tile.width;
}

// Calls `function` with each vector's first channel and with its offset in a pixel's place.
template <class Function>
inline void ForVectors(const ImageTile& tile, const Function& function) {
  const std::int64_t step = tile.height * tile.width * tile.block;
  for (std::int64_t block = 0, offset = 0; block < tile.channels; block += tile.block, offset += step)
    for (std::int64_t c = 0; c < tile.block; c += kFloats) function(block + c, offset + c);
}

template <int kIn, bool kInside>
void Input(const float* image, const ImageTile& tile, float* to, std::int64_t to_step) {
  const Pixels<kIn, kInside> pixels(tile);
  ForVectors(tile, [&](std::int64_t c, std::int64_t vector) {
    Floats columns[kIn][kIn];  // by column, then by row: the rows' transforms
    for (int row = 0; row < kIn; ++row) {
      Floats d[kIn], t[kIn];
      for (int column = 0; column < kIn; ++column) {
        const std::int64_t offset = pixels.At(row, column);
        d[column] = !kInside && offset < 0 ? Floats{} : Load(image + offset + vector);
      }
      TransformInput(d, t);
      for (int column = 0; column < kIn; ++column) columns[column][row] = t[column];
    }
    for (int column = 0; column < kIn; ++column) {
      Floats t[kIn];
      TransformInput(columns[column], t);
      for (int row = 0; row < kIn; ++row) Store(to + (row * kIn + column) * to_step + c, t[row]);
    }
  });
}

template <int kIn, int kOut, bool kInside>
void Output(const float* from, std::int64_t from_step, const ImageTile& tile, const FilterEnd& end, float* image) {
  const Pixels<kOut, kInside> pixels(tile);
  const Floats low = end.low - Floats{}, high = end.high - Floats{};
  ForVectors(tile, [&](std::int64_t c, std::int64_t vector) {
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
        const std::int64_t offset = pixels.At(row, column);
        if (!kInside && offset < 0) continue;
        Floats value = y[column] + bias;
        if (end.added != nullptr) value += Load(end.added + offset + vector);
        value = value < low ? low : value;
        Store(image + offset + vector, value > high ? high : value);
      }
    }
  });
}

}  // namespace

void FilterInput(std::int64_t outputs, const float* image, const ImageTile& tile, float* to, std::int64_t to_step) {
  const bool is_inside = IsInside(tile, outputs + 2);
  const auto input =
      outputs == 2 ? (is_inside ? Input<4, true> : Input<4, false>) : (is_inside ? Input<6, true> : Input<6, false>);
  input(image, tile, to, to_step);
}

void FilterOutput(std::int64_t outputs, const float* from, std::int64_t from_step, const ImageTile& tile,
                  const FilterEnd& end, float* image) {
  const bool is_inside = IsInside(tile, outputs);
  const auto output = outputs == 2 ? (is_inside ? Output<4, 2, true> : Output<4, 2, false>)
                                   : (is_inside ? Output<6, 4, true> : Output<6, 4, false>);
  output(from, from_step, tile, end, image);
}

}  // namespace infimum::cpu::INFIMUM_ISA
