#include "infimum/layer/element_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <set>

namespace infimum {
namespace {

// Where in memory the element of this row-major index lies.
std::int64_t PlaceOf(const ElementOrder& order, std::int64_t index) {
  std::int64_t place = 0;
  for (const ElementRun& run : order.runs) place += index / run.logical % run.extent * run.physical;
  return place;
}

std::int64_t Blocked(const Shape& shape, std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w,
                     std::int64_t block) {
  const std::vector<std::int64_t>& dims = shape.dims;
  return (((n * (dims[1] / block) + c / block) * dims[2] + h) * dims[3] + w) * block + c % block;
}

TEST(ElementOrder, IsWhereEveryElementLies) {
  const Shape shape{{2, 32, 5, 3}};
  const ElementOrder plain = *ParseLayout("nchw", shape), last = *ParseLayout("nhwc", shape),
                     blocks = *ParseLayout("aBcd8b", shape);
  std::int64_t index = 0;
  for (std::int64_t n = 0; n < 2; ++n)
    for (std::int64_t c = 0; c < 32; ++c)
      for (std::int64_t h = 0; h < 5; ++h)
        for (std::int64_t w = 0; w < 3; ++w, ++index) {
          EXPECT_EQ(PlaceOf(plain, index), index);
          EXPECT_EQ(PlaceOf(last, index), ((n * 5 + h) * 3 + w) * 32 + c);
          EXPECT_EQ(PlaceOf(blocks, index), Blocked(shape, n, c, h, w, 8));
        }
}

TEST(ElementOrder, HasSeveralNames) {
  const Shape shape{{1, 64, 56, 56}};
  EXPECT_EQ(ParseLayout("nhwc", shape), ParseLayout("acdb", shape));
  EXPECT_EQ(ParseLayout("nChw16c", shape), ParseLayout("aBcd16b", shape));
  EXPECT_EQ(ParseLayout("plain", shape), ParseLayout("abcd", shape));
  EXPECT_EQ(ParseLayout("nwc", Shape{{1, 64, 56}}), ParseLayout("acb", Shape{{1, 64, 56}}));
  EXPECT_EQ(ParseLayout("ndhwc", Shape{{1, 8, 4, 5, 6}}), ParseLayout("acdeb", Shape{{1, 8, 4, 5, 6}}));
  EXPECT_EQ(ViewOf("nChw16c", shape).letters, "aBcd16b");
  EXPECT_EQ(ViewOf("acdb", shape).letters, "acdb");
  EXPECT_EQ(RowMajorName(3), "abc");
}

// What a convolution writes is what a product over its flattened positions reads.
TEST(ElementOrder, IsComparableOverShapes) {
  EXPECT_EQ(ParseLayout("acdb", Shape{{1, 64, 56, 56}}), ParseLayout("ba", Shape{{64, 3136}}));
  EXPECT_EQ(ParseLayout("abcd", Shape{{1, 64, 56, 56}}), ParseLayout("a", Shape{{200704}}));
  EXPECT_EQ(ParseLayout("acdb", Shape{{1, 2048, 1, 1}}), RowMajorOrder(Shape{{2048}}));
  EXPECT_NE(ParseLayout("acdb", Shape{{2, 64, 56, 56}}), ParseLayout("ba", Shape{{128, 3136}}));
  EXPECT_TRUE(ParseLayout("aBcd16b", Shape{{1, 16, 1, 7}})->is_dense());
  EXPECT_FALSE(ParseLayout("aBcd16b", Shape{{1, 16, 7, 7}})->is_row_major());
}

// By its definition, element by element: random shapes, permutations of their dimensions, and orders.
TEST(ElementOrder, OfATransposeInPlaceHasEachElementWhereItWas) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 300; ++trial) {
    Shape shape;
    for (std::size_t i = 0; i < 2 + random() % 3; ++i) shape.dims.push_back(std::array{1, 2, 3, 4, 8}[random() % 5]);
    const std::size_t rank = shape.rank();
    std::vector<std::int64_t> permutation(rank);
    std::iota(permutation.begin(), permutation.end(), 0);
    std::ranges::shuffle(permutation, random);
    std::string name = RowMajorName(rank);
    std::ranges::shuffle(name, random);
    const std::size_t split = random() % rank;
    if (shape.dims[split] % 4 == 0 && random() % 2 == 0) {
      const char letter = static_cast<char>('a' + split);
      name[name.find(letter)] = static_cast<char>('A' + split);
      name += std::string("4") + letter;
    }
    const ElementOrder order = *ParseLayout(name, shape);
    ASSERT_TRUE(order.is_dense());
    const auto moved = TransposedInPlace(order.runs, shape, permutation);
    ASSERT_TRUE(moved) << name;
    // The indices of the result in turn, and of each element that in the operand.
    std::vector<std::int64_t> at(rank, 0);
    for (std::int64_t index = 0; index < ElementCount(shape); ++index) {
      std::int64_t source = 0;
      for (std::size_t dim = 0; dim < rank; ++dim) {
        const auto place = static_cast<std::size_t>(std::ranges::find(permutation, dim) - permutation.begin());
        source = source * shape.dims[dim] + at[place];
      }
      ASSERT_EQ(PlaceOf({*moved, ""}, index), PlaceOf(order, source)) << name << " at " << index;
      for (std::size_t i = rank; i-- > 0;) {
        if (++at[i] < shape.dims[static_cast<std::size_t>(permutation[i])]) break;
        at[i] = 0;
      }
    }
  }
  // Tokens of 128 channels, turned into an image: channels last.
  const Shape tokens{{1, 4096, 128}}, image{{1, 128, 64, 64}};
  EXPECT_EQ(TransposedInPlace(RowMajorOrder(tokens).runs, tokens, {0, 2, 1}), ParseLayout("acdb", image)->runs);
  EXPECT_EQ(TransposedInPlace(ParseLayout("nhwc", image)->runs, image, {0, 2, 3, 1}), RowMajorOrder(tokens).runs);
  // Rows of six, of which a run takes four.
  EXPECT_EQ(TransposedInPlace({{3, 4, 1}, {4, 1, 3}}, Shape{{2, 6}}, {1, 0}), std::nullopt);
}

// By its definition: random orders of channels and pixels, cut into parts of some channels each.
TEST(ElementOrder, OfPartsThatLieOneBehindTheOtherHasEachElementWhereItWas) {
  std::mt19937 random(5);
  int joined = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const std::int64_t pixels = std::array{1, 2, 3, 6}[random() % 4];
    std::vector<std::int64_t> counts;
    std::int64_t channels = 0;
    for (std::size_t i = 0; i < 2 + random() % 3; ++i) {
      counts.push_back(std::array{1, 2, 4, 8, 12}[random() % 5]);
      channels += counts.back();
      counts.back() *= pixels;
    }
    const Shape shape{{channels, pixels}};
    std::vector<std::string> names = {"ab", "ba"};
    if (channels % 4 == 0) names.insert(names.end(), {"Ab4a", "bA4a", "Aba4"});
    const std::string name = names[random() % names.size()];
    const std::optional<ElementOrder> order = ParseLayout(name, shape);
    if (!order) continue;
    const auto parts = JoinedInPlace(order->runs, counts);
    bool is_in_place = true;
    std::int64_t before = 0;
    for (std::size_t part = 0; part < counts.size(); ++part) {
      for (std::int64_t index = 0; index < counts[part]; ++index) {
        const std::int64_t place = PlaceOf(*order, before + index) - before;
        is_in_place &= place >= 0 && place < counts[part];
        if (parts) {
          ASSERT_EQ(PlaceOf({(*parts)[part], ""}, index), place) << name << " at " << before + index;
        }
      }
      before += counts[part];
    }
    // What no run can say of parts within blocks is left to copies.
    EXPECT_TRUE(is_in_place || !parts);
    EXPECT_TRUE(parts || name != "ab");
    joined += parts ? 1 : 0;
  }
  EXPECT_GT(joined, 100);
  const auto of = [](const char* name, std::int64_t channels) { return ParseLayout(name, Shape{{1, channels, 7, 7}}); };
  EXPECT_EQ(JoinedInPlace(of("aBcd8b", 24)->runs, {16 * 49, 8 * 49}),
            (std::vector{of("aBcd8b", 16)->runs, of("aBcd8b", 8)->runs}));
  EXPECT_EQ(JoinedInPlace(of("aBcd8b", 24)->runs, {12 * 49, 12 * 49}), std::nullopt);
  EXPECT_EQ(JoinedInPlace(of("acdb", 24)->runs, {16 * 49, 8 * 49}), std::nullopt);
}

// Every order without gaps has a name in every shape of the tensor.
TEST(ElementOrder, HasANameInAShapeOfItsOwn) {
  const Shape shape{{1, 64, 7, 8}}, flat{{3584}};
  for (const char* name : {"acdb", "aBcd16b", "abdc", "adcb", "abcd"}) {
    const ElementOrder order = *ParseLayout(name, shape);
    EXPECT_EQ(ParseLayout(NameInOwnShape(order), flat), order) << NameInOwnShape(order);
  }
  EXPECT_EQ(NameInOwnShape(*ParseLayout("acdb", shape)), "64x56:ba");
  EXPECT_EQ(NameInOwnShape(*ParseLayout("aBcd16b", shape)), "4x16x56:acb");
  EXPECT_EQ(ViewOf("64x56:ba", flat).shape, (Shape{{64, 56}}));
  EXPECT_FALSE(ParseLayout("64x57:ba", flat).has_value());
  EXPECT_FALSE(ParseLayout("64x56:abc", flat).has_value());
  EXPECT_FALSE(ParseLayout(":ba", flat).has_value());
  EXPECT_FALSE(ParseLayout("64x56:", flat).has_value());
}

TEST(ElementOrder, WithGapsIsOnlyItself) {
  const std::optional<ElementOrder> gaps = ParseLayout("nChw16c", Shape{{1, 24, 7, 7}});
  ASSERT_TRUE(gaps.has_value());
  EXPECT_FALSE(gaps->is_dense());
  EXPECT_FALSE(gaps->is_row_major());
  EXPECT_EQ(gaps, ParseLayout("aBcd16b", Shape{{1, 24, 7, 7}}));
  EXPECT_NE(gaps, ParseLayout("aBcd8b", Shape{{1, 24, 7, 7}}));
  EXPECT_NE(gaps, ParseLayout("aBcd16b", Shape{{1, 24, 49, 1}}));
}

TEST(ElementOrder, OfNamesThatSayNothingIsNone) {
  const Shape shape{{1, 64, 56, 56}};
  for (const char* name : {"any", "opaque", "", "abc", "abcde", "abca", "aBcd", "aBcd16", "abcd16b", "aBcd1b",
                           "aBcd16c", "aBcd99999999999999999999b", "nhw", "16b", "x"}) {
    EXPECT_FALSE(ParseLayout(name, shape).has_value()) << name;
  }
  EXPECT_FALSE(ParseLayout("a", Shape{}).has_value());
}

// Every permutation of dimensions is a bijection onto the tensor's places, and two names give one order exactly when
// every element lies in one place.
TEST(ElementOrder, IsEqualExactlyWherePlacesAre) {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 2000; ++trial) {
    Shape shape;
    const std::size_t rank = 1 + random() % 4;
    for (std::size_t i = 0; i < rank; ++i) shape.dims.push_back(std::int64_t{1} << (random() % 3));
    const auto draw = [&] {
      std::string name = RowMajorName(rank);
      std::shuffle(name.begin(), name.end(), random);
      const std::size_t split = random() % (2 * rank);
      if (split >= rank || shape.dims[split] < 2) return name;
      const char letter = static_cast<char>('a' + split);
      name[name.find(letter)] = static_cast<char>('A' + split);
      return name + "2" + letter;
    };
    const std::string names[] = {draw(), draw()};
    const std::optional<ElementOrder> a = ParseLayout(names[0], shape), b = ParseLayout(names[1], shape);
    ASSERT_TRUE(a && b) << names[0] << " " << names[1];
    bool is_same = true;
    std::set<std::int64_t> places;
    for (std::int64_t i = 0; i < ElementCount(shape); ++i) {
      places.insert(PlaceOf(*a, i));
      is_same &= PlaceOf(*a, i) == PlaceOf(*b, i);
    }
    EXPECT_EQ(static_cast<std::int64_t>(places.size()), ElementCount(shape));
    EXPECT_EQ(*places.rbegin(), ElementCount(shape) - 1);
    EXPECT_EQ(*a == *b, is_same) << names[0] << " and " << names[1] << " of " << Format(shape);
  }
}

}  // namespace
}  // namespace infimum
