// Which part of a layer's arithmetic every execution needs: rows that are read, keys that an unchanging mask leaves.
#include "analyzer/floor/needed_work.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "analyzer/floor/compulsory_traffic.h"
#include "tests/app/language_model_texts.h"

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
        [mixed] m = MatMul (x, other)
        [inner] h = MatMul (m, w)
        [act] r = Relu (h)
        [head] all = MatMul (r, head)
        logits = Slice (all, first, last, axis)
      })",
                                {}, 21);
  for (const char* layer : {"head", "act", "inner", "mixed"})
    EXPECT_DOUBLE_EQ(ShareOf(graph, layer), 1.0 / 256) << layer;
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

}  // namespace
}  // namespace infimum::language_model_test
