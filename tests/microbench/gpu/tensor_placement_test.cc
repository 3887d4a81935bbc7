#include "microbench/gpu/device/tensor_placement.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace infimum::cuda {
namespace {

cpu::HostTensor Counting(const Shape& shape, DataType type) {
  cpu::HostTensor tensor = *cpu::HostTensor::Make(shape, type);
  for (std::int64_t i = 0; i < tensor.count(); ++i)
    tensor.Set(i, static_cast<double>(i % (BitsPerElement(type) == 4 ? 8 : 100) + 1 - (type == DataType::kS4 ? 5 : 0)));
  return tensor;
}

TEST(TensorPlacement, ChannelsLastAndFilledUp) {
  const Shape shape{{1, 3, 2, 2}};
  const TensorPlacement placement = TensorPlacement::WithChannels(shape, true, 8);
  EXPECT_EQ(placement.room, (Shape{{1, 8, 2, 2}}));
  EXPECT_EQ(placement.strides, (std::vector<std::int64_t>{32, 1, 16, 8}));
  EXPECT_EQ(placement.bytes(DataType::kF16), Bytes{64});
  EXPECT_FALSE(placement.is_row_major());
  const cpu::HostTensor tensor = Counting(shape, DataType::kF32);
  const std::vector<std::byte> packed = Packed(tensor, placement, DataType::kF32);
  std::vector<float> elements(32);
  ASSERT_EQ(packed.size(), elements.size() * sizeof(float));
  std::memcpy(elements.data(), packed.data(), packed.size());
  // Pixel by pixel its three channels, which are 4 elements apart in the tensor, and five zeros.
  EXPECT_EQ(elements, (std::vector<float>{1, 5, 9,  0, 0, 0, 0, 0, 2, 6, 10, 0, 0, 0, 0, 0,
                                          3, 7, 11, 0, 0, 0, 0, 0, 4, 8, 12, 0, 0, 0, 0, 0}));
}

TEST(TensorPlacement, WhatIsPackedComesBack) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    Shape shape;
    const int rank = 2 + static_cast<int>(random() % 4);
    for (int i = 0; i < rank; ++i) shape.dims.push_back(1 + static_cast<std::int64_t>(random() % 5));
    constexpr DataType kTypes[] = {DataType::kS8,  DataType::kF16, DataType::kF32,
                                   DataType::kF64, DataType::kS4,  DataType::kU4};
    const DataType type = kTypes[random() % 6];
    const std::int64_t multiple = std::int64_t{1} << (random() % 4);
    const TensorPlacement placement = TensorPlacement::WithChannels(shape, random() % 2 == 0, multiple);
    const cpu::HostTensor tensor = Counting(shape, type);
    const std::vector<std::byte> packed = Packed(tensor, placement, type);
    EXPECT_EQ(Bytes{static_cast<std::int64_t>(packed.size())}, placement.bytes(type));
    cpu::HostTensor back = *cpu::HostTensor::Make(shape, type);
    Unpack(packed, placement, type, back);
    EXPECT_EQ(std::memcmp(back.data(), tensor.data(), tensor.bytes()), 0) << Format(shape);
  }
}

// "1D Block Scaling Factors Layout" of cuBLAS's documentation, tile by tile.
TEST(TensorPlacement, ScalesLieInTilesOf128RowsBy4) {
  const std::int64_t rows = 200, blocks = 6;  // two tiles by two
  for (const bool of_columns : {false, true}) {
    const Shape shape{of_columns ? std::vector{std::int64_t{1}, blocks, rows}
                                 : std::vector{std::int64_t{1}, rows, blocks}};
    const TensorPlacement placement = TensorPlacement::InScaleTiles(shape, of_columns);
    EXPECT_FALSE(placement.is_row_major());
    EXPECT_EQ(placement.bytes(DataType::kU8), Bytes{256 * 8});
    cpu::HostTensor tensor = *cpu::HostTensor::Make(shape, DataType::kU8);
    for (std::int64_t i = 0; i < tensor.count(); ++i) tensor.Set(i, static_cast<double>(i % 251 + 1));
    const std::vector<std::byte> packed = Packed(tensor, placement, DataType::kU8);
    std::int64_t filled = 0;
    for (std::int64_t outer = 0; outer < 256; ++outer) {
      for (std::int64_t inner = 0; inner < 8; ++inner) {
        const std::int64_t tile = (outer / 128 * 8 + inner / 4 * 4) * 128;  // 8 scales in a row
        const std::int64_t offset = (outer % 32) * 16 + (outer % 128 / 32) * 4 + inner % 4;
        const std::int64_t at = of_columns ? inner * rows + outer : outer * blocks + inner;
        const bool is_there = outer < rows && inner < blocks;
        filled += is_there;
        EXPECT_EQ(std::to_integer<int>(packed[static_cast<std::size_t>(tile + offset)]), is_there ? at % 251 + 1 : 0);
      }
    }
    EXPECT_EQ(filled, rows * blocks);
    cpu::HostTensor back = *cpu::HostTensor::Make(shape, DataType::kU8);
    Unpack(packed, placement, DataType::kU8, back);
    EXPECT_EQ(std::memcmp(back.data(), tensor.data(), tensor.bytes()), 0);
  }
}

TEST(TensorPlacement, ElementsOfFourBitsLieTwoInAByte) {
  cpu::HostTensor tensor = *cpu::HostTensor::Make(Shape{{3}}, DataType::kS4);
  for (std::int64_t i = 0; i < 3; ++i) tensor.Set(i, static_cast<double>(i - 2));
  const TensorPlacement placement = TensorPlacement::RowMajor(tensor.shape());
  EXPECT_EQ(placement.bytes(DataType::kS4), Bytes{2});
  EXPECT_EQ(Packed(tensor, placement, DataType::kS4), (std::vector{std::byte{0xfe}, std::byte{0x00}}));
}

TEST(TensorPlacement, RowMajorIsToldWhateverTheStridesOfSingleElements) {
  EXPECT_TRUE(TensorPlacement::RowMajor(Shape{{2, 3, 4}}).is_row_major());
  // Channels last with one pixel is the same order.
  EXPECT_TRUE(TensorPlacement::WithChannels(Shape{{2, 64, 1, 1}}, true).is_row_major());
  EXPECT_FALSE(TensorPlacement::WithChannels(Shape{{2, 64, 2, 1}}, true).is_row_major());
  EXPECT_FALSE(TensorPlacement::WithChannels(Shape{{1, 3, 1, 1}}, true, 4).is_row_major());
}

}  // namespace
}  // namespace infimum::cuda
