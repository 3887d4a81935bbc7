// Which part of a layer's arithmetic every execution needs: rows that are read, keys that an unchanging mask leaves.
#include "analyzer/floor/needed_work.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "analyzer/floor/compulsory_traffic.h"
#include "analyzer/floor/floor.h"
#include "tests/app/language_model_texts.h"
#include "tests/support/random_graph.h"

namespace infimum::language_model_test {
namespace {

class NeededArithmetic : public Texts {
 protected:
  // Attention of `queries` over `keys`, whose scores `mask` of them is added to, with what makes it before.
  static std::string Attention(int queries, int keys, const std::string& constants, const std::string& making) {
    const std::string q = std::to_string(queries), k = std::to_string(keys);
    return "g (float[1, 2, " + q + ", 64] q, float[1, 2, " + k + ", 64] k, float[1, 2, " + k + ", 64] v, float[1, 1, " +
           q + ", " + k + "] given) => (float[1, 2, " + q + ", 64] y) <" + constants + "> {" + making +
           R"([turn] kt = Transpose <perm = [0, 1, 3, 2]> (k)
              [scores] s = MatMul (q, kt)
              [add] a = Add (s, mask)
              [softmax] p = Softmax <axis = -1> (a)
              [values] y = MatMul (p, v) })";
  }

  double ShareOf(const ModelGraph& graph, const std::string& name) {
    const auto found = std::ranges::find(graph.layers, name, &Layer::name);
    EXPECT_NE(found, graph.layers.end()) << name;
    if (found == graph.layers.end()) return -1;
    return NeededWork(graph).of(static_cast<std::size_t>(found - graph.layers.begin()));
  }

  // The textbook floor on a device with units for f32, f16 and s8, each faster than the one before.
  static Floor TextbookFloor(const ModelGraph& graph) {
    DevicePeaks peaks = testing::TestPeaks();
    PeakRate arithmetic = peaks.rates.back();
    for (const DataType type : {DataType::kF16, DataType::kS8}) {
      arithmetic.type = type;
      arithmetic.per_second *= 2;
      peaks.rates.push_back(arithmetic);
    }
    const Result<DeviceModel> device = DeviceModel::Make(testing::TestDeviceKey(), peaks, 1);
    EXPECT_TRUE(device.ok());
    return FloorOf(ComputeFloors(graph, *device), ProgramClass::kTextbook);
  }

  void ExpectSeen(const std::string& text, double share) {
    const ModelGraph graph = Read(text, {}, 21);
    for (const char* layer : {"scores", "softmax", "values"}) EXPECT_DOUBLE_EQ(ShareOf(graph, layer), share) << layer;
  }
};

constexpr const char* kPositions = "int64 zero = {0}, int64 one = {1}, int64[1] axis = {1}, float off = {-1e30}, ";

TEST_F(NeededArithmetic, OfScoresIsWhatACausalMaskOfPositionsLeaves) {
  const std::string causal = R"(r = Range (zero, end, one) rq = Unsqueeze (r, axis) seen = LessOrEqual (r, rq)
                                mask = Where (seen, none, off))";
  const std::string numbers = "float none = {0}, int64 end = {";
  // Of so few elements all are kept and counted; of more it is known how they are made.
  ExpectSeen(Attention(8, 8, kPositions + numbers + "8}", causal), 36.0 / 64);
  ExpectSeen(Attention(4096, 4096, kPositions + numbers + "4096}", causal), 4097.0 / (2 * 4096));
}

TEST_F(NeededArithmetic, OfScoresIsWhatAWindowLeaves) {
  constexpr double kWindow = 512, kAll = 4096;
  ExpectSeen(Attention(4096, 4096, std::string(kPositions) + "float none = {0}, int64 end = {4096}, int64 w = {512}",
                       R"(r = Range (zero, end, one) rq = Unsqueeze (r, axis) low = Sub (rq, w)
                          until = LessOrEqual (r, rq) since = Greater (r, low) seen = And (until, since)
                          mask = Where (seen, none, off))"),
             (kWindow * (kWindow + 1) / 2 + (kAll - kWindow) * kWindow) / (kAll * kAll));
}

TEST_F(NeededArithmetic, IsWholeUnderBiasesAndMasksThatAreGiven) {
  ExpectSeen(Attention(8, 8, "float[1] none = {0}", "mask = Identity (given)"), 1);
  // Relative positions look up what they add.
  ExpectSeen(
      Attention(
          4096, 4096, std::string(kPositions) + "int64 end = {4096}, int64[3] of_table = {1, 2, 4096}",
          R"(table = ConstantOfShape (of_table) r = Range (zero, end, one) rq = Unsqueeze (r, axis) apart = Sub (r, rq) far = Abs (apart)
                          mask = Gather <axis = 2> (table, far))"),
      1);
}

TEST_F(NeededArithmetic, OfAStepsCacheIsWhatAStoredMaskLeaves) {
  std::string numbers;
  for (int key = 0; key < 64; ++key) numbers += key < 48 ? "-1e30," : key < 63 ? "0," : "0";
  const ModelGraph graph =
      Read(Attention(1, 64, "float[1, 1, 1, 64] stored = {" + numbers + "}", "mask = Identity (stored)"), {}, 21);
  EXPECT_DOUBLE_EQ(ShareOf(graph, "scores"), 16.0 / 64);
  // Keys and values of two heads, the query, and the mask.
  EXPECT_DOUBLE_EQ(FindCompulsoryTraffic(graph).read, 2 * (2 * 64 * 16 * 4) + 2 * 64 * 4 + 64 * 4);
}

TEST_F(NeededArithmetic, OfRowsThatNobodyReadsIsNothing) {
  const ModelGraph graph = Read(R"(
      g (float[256, 64] x, float[64, 64] other) => (float[1, 1000] logits)
      <int64[2] square = {64, 64}, int64[2] of_head = {64, 1000}, int64[1] first = {255}, int64[1] last = {256},
       int64[1] axis = {0}> {
        w = ConstantOfShape (square)
        head = ConstantOfShape (of_head)
        [first] one = Relu (x)
        [second] two = Relu (other)
        [mixed] m = MatMul (one, two)
        [inner] h = MatMul (m, w)
        [act] r = Relu (h)
        [head] all = MatMul (r, head)
        logits = Slice (all, first, last, axis)
      })",
                                {}, 21);
  for (const char* layer : {"head", "act", "inner", "mixed", "first"})
    EXPECT_DOUBLE_EQ(ShareOf(graph, layer), 1.0 / 256) << layer;
  EXPECT_DOUBLE_EQ(ShareOf(graph, "second"), 1);
  // What mixes rows counts whole, and all before it.
  const ModelGraph mixing = Read(R"(
      g (float[256, 64] x) => (float[1, 64] y)
      <int64[2] square = {64, 64}, int64[1] first = {255}, int64[1] last = {256}, int64[1] axis = {0}> {
        w = ConstantOfShape (square)
        [inner] h = MatMul (x, w)
        [softmax] p = Softmax <axis = 0> (h)
        [act] r = Relu (p)
        y = Slice (r, first, last, axis)
      })",
                                 {}, 21);
  EXPECT_DOUBLE_EQ(ShareOf(mixing, "act"), 1.0 / 256);
  EXPECT_DOUBLE_EQ(ShareOf(mixing, "inner"), 1);
}

// A body sees its surroundings by name alone.
TEST_F(NeededArithmetic, OfWhatABodyReadsIsWhole) {
  const ModelGraph graph = Read(R"(
      g (bool c, float[8, 64] x) => (float[a, b] y) <int64[2] square = {64, 64}> {
        w = ConstantOfShape (square)
        [inner] h = MatMul (x, w)
        y = If (c) <then_branch = t () => (float[d, e] p) { p = Relu (h) },
                    else_branch = o () => (float[f, i] q) { q = Neg (h) }>
      })",
                                {}, 21);
  EXPECT_DOUBLE_EQ(ShareOf(graph, "inner"), 1);
}

// A number that positions are compared with may be a window's length or where it begins; of other arithmetic on
// positions it is not known what a comparison leaves.
TEST_F(NeededArithmetic, OfScoresIsNoMoreThanAnyMaskOfTheFormLeaves) {
  const auto scores = [&](int queries, const std::string& constants, const std::string& making) {
    const ModelGraph graph = Read(
        Attention(queries, 4096, std::string(kPositions) + "float none = {0}, int64 end = {4096}, " + constants,
                  "r = Range (zero, end, one) rq = Unsqueeze (r, axis) " + making + " mask = Where (seen, none, off)"),
        {}, 21);
    return ShareOf(graph, "scores");
  };
  constexpr double kAll = 4096, kOneKey = 1 / kAll;
  // Both sides of a query: 129 keys, of which 64 count.
  EXPECT_LT(scores(4096, "int64 w = {64}", "d = Sub (r, rq) far = Abs (d) seen = LessOrEqual (far, w)"), 129 / kAll);
  EXPECT_DOUBLE_EQ(scores(4096, "int64 w = {4096}", "d = Sub (r, rq) dd = Mul (d, d) seen = LessOrEqual (dd, w)"),
                   kOneKey);
  // The first 64 keys, and what a step's window of 96 keys begins with.
  EXPECT_DOUBLE_EQ(scores(1, "int64 w = {64}, int64[1] at = {0}", "row = Less (r, w) seen = Unsqueeze (row, at)"),
                   64 / kAll);
  EXPECT_DOUBLE_EQ(
      scores(1, "int64 w = {4000}, int64[1] at = {0}", "row = GreaterOrEqual (r, w) seen = Unsqueeze (row, at)"),
      96 / kAll);
  // Where a chunk's queries begin is no window.
  EXPECT_DOUBLE_EQ(
      scores(1, "int64 past = {4095}, int64[1] at = {0}", "row = LessOrEqual (r, past) seen = Unsqueeze (row, at)"), 1);
}

constexpr const char* kCausal = R"(
    r = Range (zero, end, one) rq = Unsqueeze (r, axis) seen = LessOrEqual (r, rq))";

// A sink beside the scores takes a column of the softmax that no key has.
TEST_F(NeededArithmetic, OfScoresBesideASinkIsWhatTheMaskLeaves) {
  const ModelGraph graph = Read(std::string(R"(
      g (float[1, 2, 512, 64] q, float[1, 2, 512, 64] k, float[1, 2, 512, 64] v) => (float[1, 2, 512, 64] y)
      <)") + kPositions + R"(int64 end = {512}, int64[4] of_sink = {1, 2, 512, 1}, int64[1] first = {0},
       int64[1] last = {512}, int64[1] last_axis = {3}> {)" +
                                    kCausal + R"(
        sink = ConstantOfShape (of_sink)
        kt = Transpose <perm = [0, 1, 3, 2]> (k)
        [scores] s = MatMul (q, kt)
        [cap] t = Tanh (s)
        masked = Where (seen, t, off)
        joined = Concat <axis = -1> (masked, sink)
        [softmax] p = Softmax <axis = -1> (joined)
        kept = Slice (p, first, last, last_axis)
        [values] y = MatMul (kept, v)
      })",
                                {}, 21);
  // Besides, a column of the softmax is read by nobody.
  const double seen = 1 - (1 - 513.0 / 1024) * 512 / 513;
  for (const char* layer : {"scores", "cap", "softmax", "values"})
    EXPECT_NEAR(ShareOf(graph, layer), seen, 1.0 / 512) << layer;
}

// An attention that returns its caches is a region, whose mask counts as that of an attention alone.
TEST_F(NeededArithmetic, OfAnAttentionWithCachesIsWhatItsMaskLeaves) {
  const ModelGraph graph = Read(std::string(R"(
      g (float[1, 2, 512, 64] q, float[1, 2, 512, 64] k, float[1, 2, 512, 64] v)
        => (float[1, 2, 1, 64] last_of, float[1, 2, 512, 64] pk, float[1, 2, 512, 64] pv)
      <)") + kPositions + R"(int64 end = {512}, int64[1] from = {511}, int64[1] to = {512}, int64[1] along = {2}> {)" +
                                    kCausal + R"(
        [before] q2 = Relu (q)
        [keys] k2 = Relu (k)
        [attend] y, pk, pv = Attention (q2, k2, v, seen)
        last_of = Slice (y, from, to, along)
      })",
                                {}, 23);
  EXPECT_DOUBLE_EQ(ShareOf(graph, "attend"), 513.0 / 1024 / 512);
  EXPECT_DOUBLE_EQ(ShareOf(graph, "before"), 1.0 / 512);
  EXPECT_DOUBLE_EQ(ShareOf(graph, "keys"), 1);
}

// Norms that are written out, transposes and softmax along a row keep rows apart.
TEST_F(NeededArithmetic, OfRowsGoesBackThroughWhatMakesEachOfOne) {
  const ModelGraph graph = Read(R"(
      g (float[1, 256, 64] x) => (float[1, 1, 1000] logits)
      <int64[2] square = {64, 64}, int64[2] of_head = {64, 1000}, int64[1] first = {255}, int64[1] last = {256},
       int64[1] axis = {1}, int64[1] row = {-1}, float two = {2}, float eps = {1e-5}> {
        w = ConstantOfShape (square)
        head = ConstantOfShape (of_head)
        [inner] h = MatMul (x, w)
        turned = Transpose <perm = [1, 0, 2]> (h)
        back = Transpose <perm = [1, 0, 2]> (turned)
        squares = Pow (back, two)
        mean = ReduceMean (squares, row)
        sum = Add (mean, eps)
        root = Sqrt (sum)
        normed = Div (back, root)
        [head] all = MatMul (normed, head)
        [softmax] p = Softmax <axis = -1> (all)
        logits = Slice (p, first, last, axis)
      })",
                                {}, 21);
  for (const char* layer : {"softmax", "head", "inner"}) EXPECT_DOUBLE_EQ(ShareOf(graph, layer), 1.0 / 256) << layer;
}

TEST_F(NeededArithmetic, OfWhatIsComputedTwiceCountsOnce) {
  const ModelGraph graph = Read(R"(
      g (float[8, 64] x) => (float[8, 64] y, float[8, 64] z) <int64[2] square = {64, 64}> {
        w = ConstantOfShape (square)
        [one] a = MatMul (x, w)
        [two] b = MatMul (x, w)
        [one_more] c = Relu (a)
        [two_more] d = Relu (b)
        [drawn] e = RandomNormalLike (x)
        [again] f = RandomNormalLike (x)
        g = Add (c, e)
        y = Add (g, f)
        z = Neg (d)
      })",
                                {}, 21);
  for (const char* layer : {"one", "one_more", "drawn", "again"}) EXPECT_DOUBLE_EQ(ShareOf(graph, layer), 1) << layer;
  for (const char* layer : {"two", "two_more"}) EXPECT_DOUBLE_EQ(ShareOf(graph, layer), 0) << layer;
}

// What an If's branches compute is masked and read in part as anything else.
TEST_F(NeededArithmetic, OfBodiesIsWhatTheirOwnMasksLeave) {
  const std::string branch = std::string("() => (float[a, b, c, d] NAME) <") + kPositions + R"(int64 end = {512}> {)" +
                             kCausal + R"( kt = Transpose <perm = [0, 1, 3, 2]> (k) s = MatMul (q, kt)
        masked = Where (seen, s, off) p = Softmax <axis = -1> (masked) NAME = MatMul (p, v) })";
  const auto named = [&](const std::string& name) {
    std::string text = branch;
    for (std::size_t at; (at = text.find("NAME")) != std::string::npos;) text.replace(at, 4, name);
    return text;
  };
  const auto flops = [&](const std::string& masked) {
    std::string text =
        "g (bool c, float[1, 2, 512, 64] q, float[1, 2, 512, 64] k, float[1, 2, 512, 64] v) => (float[e, f, "
        "h, i] y) { y = If (c) <then_branch = t " +
        named("then_y") + ", else_branch = o " + named("else_y") + "> }";
    if (!masked.empty())
      for (std::size_t at; (at = text.find("Where (seen, s, off)")) != std::string::npos;) text.replace(at, 20, masked);
    const ModelGraph graph = Read(text, {}, 21);
    return TextbookFloor(graph).latency.count();
  };
  EXPECT_NEAR(flops("") / flops("Identity (s)"), 513.0 / 1024, 0.01);
}

// Products of numbers that fewer bits hold are as fast as units for these.
TEST_F(NeededArithmetic, IsAtTheRateOfTheTypeThatHoldsTheOperands) {
  const auto decided_by = [&](const std::string& making) {
    const ModelGraph graph = Read(
        "g (float[512, 512] x, float16[512, 512] half, int8[512, 512] w) => (float[512, 512] y) "
        "<float scale = {0.1}, int8 zero = {0}> {" +
            making + "}",
        {}, 21);
    return TextbookFloor(graph).decided_by;
  };
  EXPECT_EQ(decided_by("y = MatMul (x, x)"), "arithmetic f32");
  EXPECT_EQ(decided_by("q = QuantizeLinear (x, scale, zero) d = DequantizeLinear (q, scale, zero) "
                       "u = DequantizeLinear (w, scale, zero) t = Transpose <perm = [1, 0]> (u) y = MatMul (d, t)"),
            "arithmetic s8");
  EXPECT_EQ(decided_by("a = Cast <to = 1> (half) b = Transpose <perm = [1, 0]> (a) y = MatMul (a, b)"),
            "arithmetic f16");
  EXPECT_EQ(decided_by("a = Cast <to = 1> (half) b = Neg (x) y = MatMul (a, b)"), "arithmetic f32");
}

}  // namespace
}  // namespace infimum::language_model_test
