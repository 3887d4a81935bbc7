// What one step of a language model must read and write of its caches, in each form that exporters give them, and of
// what a run decides.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/bracket/bracket.h"
#include "analyzer/floor/compulsory_traffic.h"
#include "infimum/base/quantity_text.h"
#include "reports/bound/bound_table.h"
#include "reports/inspect/inspect.h"
#include "reports/inspect/inspect_totals.h"
#include "src/app/commands/llm/language_model.h"
#include "tests/app/language_model_texts.h"
#include "tests/support/random_graph.h"

namespace infimum::language_model_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// One step of two sequences, f16: 8 heads of keys and values of 64 elements, 32 of queries.
constexpr double kRow = 2 * 8 * 64 * 2;     // a position of both sequences' keys, or values
constexpr double kQuery = 2 * 32 * 64 * 2;  // the queries, and as many bytes of the result
constexpr const char* kGrouped = R"(
    g (float16[b, 1, 2048] q, float16[b, 1, 512] k, float16[b, 1, 512] v, float16[b, 8, p, 64] past_k,
       float16[b, 8, p, 64] past_v, int32[b] lengths, int32[1] total)
      => (float16[b, 1, 2048] y, float16[b, 8, PRESENT, 64] present_k, float16[b, 8, PRESENT, 64] present_v) {
      [attention] y, present_k, present_v = com.microsoft.GroupQueryAttention <num_heads = 32, kv_num_heads = 8>
          (q, k, v, past_k, past_v, lengths, total)
    })";

std::string Grouped(const std::string& present) {
  std::string text = kGrouped;
  for (std::size_t at = text.find("PRESENT"); at != std::string::npos; at = text.find("PRESENT"))
    text.replace(at, 7, present);
  return text;
}

class CachesInPlace : public Texts {
 protected:
  // Of 1,000 positions and a new one all are read, and the new one alone is written.
  void ExpectOnlyTheNewRowWritten(const ModelGraph& graph) {
    const CompulsoryTraffic traffic = FindCompulsoryTraffic(graph);
    EXPECT_DOUBLE_EQ(traffic.read, kQuery + 2 * kRow + 2 * 1000 * kRow);
    EXPECT_DOUBLE_EQ(traffic.written, kQuery + 2 * kRow);
  }
};

TEST_F(CachesInPlace, OfGroupedAttentionThatGrow) {
  ExpectOnlyTheNewRowWritten(Read(Grouped("t"), {{"b", 2}, {"p", 1000}}));
}

TEST_F(CachesInPlace, OfGroupedAttentionInOneBuffer) {
  ExpectOnlyTheNewRowWritten(Read(Grouped("p"), {{"b", 2}, {"p", 4096}, {"cache.positions", 1000}}));
  // Where nothing is stated every run reads the new position, and perhaps no other.
  const ModelGraph open = Read(Grouped("p"), {{"b", 2}, {"p", 4096}});
  EXPECT_EQ(open.layers[0].status, LayerStatus::kUnknown);
  EXPECT_THAT(open.layers[0].reason, HasSubstr("--assume cache.positions=N"));
  const CompulsoryTraffic least = FindCompulsoryTraffic(open);
  EXPECT_DOUBLE_EQ(least.read, kQuery + 2 * kRow);
  EXPECT_DOUBLE_EQ(least.written, kQuery + 2 * kRow);
  ASSERT_EQ(open.quantities.size(), 1u);
  EXPECT_EQ(open.quantities[0], (RunTimeQuantity{"cache.positions", "attention", std::nullopt, 0, 4095}));
}

// A buffer that a node takes and does not return is written all the same, and nothing is read out of bounds.
TEST_F(CachesInPlace, OfBuffersThatAreNotReturned) {
  const ModelGraph graph = Read(R"(
      g (float16[b, 1, 2048] q, float16[b, 1, 512] k, float16[b, 1, 512] v, float16[b, 8, 64, 64] past_k,
         float16[b, 8, 64, 64] past_v, int32[b] lengths) => (float16[b, 1, 2048] y) <int32[1] total = {64}> {
        y = com.microsoft.GroupQueryAttention <num_heads = 32, kv_num_heads = 8>
            (q, k, v, past_k, past_v, lengths, total)
      })",
                                {{"b", 2}});
  EXPECT_DOUBLE_EQ(FindCompulsoryTraffic(graph).written, kQuery);
}

// As ONNX Runtime GenAI's builder writes it: lengths come from a mask, and a cache may have room for what is new.
TEST_F(Texts, CachesAreGivenRoomWhereTheyCanHaveIt) {
  const std::string text = R"(
      g (int64[batch_size, sequence_length] input_ids, int64[batch_size, total_sequence_length] attention_mask,
         float16[batch_size, 8, past_sequence_length, kv_cache_dim] past_key,
         float16[batch_size, 8, past_sequence_length, kv_cache_dim] past_value, float16[1000, 2048] queries,
         float16[1000, 512] keys)
        => (float16[batch_size, sequence_length, 2048] y,
            float16[batch_size, 8, total_sequence_length, kv_cache_dim] present_key,
            float16[batch_size, 8, total_sequence_length, kv_cache_dim] present_value)
      <int64[1] row = {1}> {
        q = Gather (queries, input_ids)
        k = Gather (keys, input_ids)
        seen = ReduceSum <keepdims = 0> (attention_mask, row)
        last = Sub (seen, row)
        lengths = Cast <to = 6> (last)
        shape = Shape <start = 1, end = 2> (attention_mask)
        total = Cast <to = 6> (shape)
        y, present_key, present_value = com.microsoft.GroupQueryAttention <num_heads = 32, kv_num_heads = 8>
            (q, k, k, past_key, past_value, lengths, total)
      })";
  const Result<LanguageModel> model = ReadLanguageModel(Write(text), {});
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_TRUE(model->in_buffers);
  const Dims dims = model->DimsAt({2, 1, 1000});
  EXPECT_EQ(dims.at("past_sequence_length"), 1001);
  EXPECT_EQ(dims.at("total_sequence_length"), 1001);
  EXPECT_EQ(dims.at("kv_cache_dim"), 64);
  EXPECT_DOUBLE_EQ(FindCompulsoryTraffic(Read(text, dims)).written, kQuery + 2 * kRow);
  // A mask need not be all ones: what is stated holds.
  Dims half = dims;
  half["cache.positions"] = 500;
  EXPECT_DOUBLE_EQ(FindCompulsoryTraffic(Read(text, dims)).read - FindCompulsoryTraffic(Read(text, half)).read,
                   500 * 2 * kRow);
}

// A window's buffer does not grow with how much was seen before.
TEST_F(CachesInPlace, OfWindows) {
  const ModelGraph graph = Read(R"(
      g (float16[1, 1, 2048] q, float16[1, 1, 512] k, float16[1, 1, 512] v, float16[1, 8, 1024, 64] past_k,
         float16[1, 8, 1024, 64] past_v, int32[1] lengths)
        => (float16[1, 1, 2048] y, float16[1, 8, 1024, 64] present_k, float16[1, 8, 1024, 64] present_v)
      <int32[1] total = {5000}> {
        y, present_k, present_v = com.microsoft.GroupQueryAttention
            <num_heads = 32, kv_num_heads = 8, local_window_size = 256, sliding_window_cache = 1>
            (q, k, v, past_k, past_v, lengths, total)
      })",
                                {});
  EXPECT_EQ(graph.value(*graph.layers[0].outputs[1]).shape, (Shape{{1, 8, 1024, 64}}));
  const CompulsoryTraffic traffic = FindCompulsoryTraffic(graph);
  EXPECT_LE(traffic.read, kQuery / 2 + kRow + 256 * kRow);
  EXPECT_LE(traffic.written, kQuery / 2 + kRow);
  EXPECT_GT(traffic.read, 200 * kRow);
}

// Of padded sequences one key may be all that is seen.
TEST_F(Texts, AttentionOfPaddedSequencesCountsOneKeyAtLeast) {
  const ModelGraph graph = Read(R"(
      g (float16[1, 8, 448, 64] q, float16[1, 8, 1500, 64] k, float16[1, 8, 1500, 64] v, int64[1] valid)
        => (float16[1, 8, 448, 64] y) { y = Attention (q, k, v, , , , valid) })",
                                {}, 24);
  ASSERT_TRUE(graph.layers[0].least.has_value());
  EXPECT_EQ(FindCompulsoryTraffic(graph).read, 2 * 8 * 448 * 64 + 2 * 2 * 8 * 64);
  EXPECT_EQ(graph.quantities[0].most, 1500);
}

// What the model itself allows the activations to be rounded to decides how fast the arithmetic can be.
TEST_F(Texts, ProductsOfRoundedActivationsHaveTheirFloor) {
  const auto floor_at = [&](const std::string& level) {
    const ModelGraph graph = Read(
        "g (float[1024, 4096] x, uint8[4096, 128, 16] w, float[524288] s) => (float[1024, 4096] y)"
        "{ y = com.microsoft.MatMulNBits <K = 4096, N = 4096, bits = 4, block_size = 32, "
        "accuracy_level = " +
            level + "> (x, w, s) }",
        {});
    MemorySource source;
    DevicePeaks peaks = testing::TestPeaks();
    source.SetPeaks(testing::TestDeviceKey(), peaks);
    Result<DeviceModel> device = DeviceModel::Make(source, testing::TestSelection(1));
    EXPECT_TRUE(device.ok());
    const std::vector<Floor> floors = ComputeFloors(graph, *device);
    return FloorOf(floors, ProgramClass::kTextbook);
  };
  EXPECT_LE(floor_at("4").latency, floor_at("0").latency);
  EXPECT_NE(floor_at("4").decided_by, "arithmetic f32");
}

TEST_F(Texts, WeightsOfSeveralProductsAreStoredOnce) {
  const std::string text = R"(
      g (float[1, 64] x) => (float[1, 64] y) <int64[2] square = {64, 64}> {
        w = ConstantOfShape <value: tensor = float[1] {1}> (square)
        a = MatMul (x, w)
        y = MatMul (a, w)
      })";
  ReadOptions options;
  options.weights = DataType::kS8;
  const Result<ModelGraph> graph = ReadModel(Write(text), options);
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_DOUBLE_EQ(FindCompulsoryTraffic(*graph).read, 64 * 4 + 64 * 64 + 2 * 64 * 4);
}

TEST_F(CachesInPlace, OfOnnxAttention) {
  ExpectOnlyTheNewRowWritten(Read(R"(
      g (float16[b, 32, 1, 64] q, float16[b, 8, 1, 64] k, float16[b, 8, 1, 64] v, float16[b, 8, p, 64] past_k,
         float16[b, 8, p, 64] past_v)
        => (float16[b, 32, 1, 64] y, float16[b, 8, t, 64] present_k, float16[b, 8, t, 64] present_v) {
        y, present_k, present_v = Attention (q, k, v, , past_k, past_v)
      })",
                                  {{"b", 2}, {"p", 1000}}));
}

TEST_F(CachesInPlace, OfConcatenationsThatAttentionReads) {
  ExpectOnlyTheNewRowWritten(Read(R"(
      g (float16[b, 32, 1, 64] q, float16[b, 8, 1, 64] k, float16[b, 8, 1, 64] v, float16[b, 8, p, 64] past_k,
         float16[b, 8, p, 64] past_v)
        => (float16[b, 32, 1, 64] y, float16[b, 8, t, 64] present_k, float16[b, 8, t, 64] present_v) {
        present_k = Concat <axis = 2> (past_k, k)
        present_v = Concat <axis = 2> (past_v, v)
        y = Attention (q, present_k, present_v)
      })",
                                  {{"b", 2}, {"p", 1000}}));
}

// What exporters write between a cache and its update, and what they cannot undo: of `past`, 8 heads of 100 positions
// of 64 elements in f16, and one position more.
TEST_F(CachesInPlace, BehindWhatLeavesElementsAsTheyAre) {
  constexpr double kPosition = 8 * 64 * 2, kWhole = 101 * kPosition;
  struct Form {
    std::string name, text;
    double written;
  };
  const std::vector<Form> forms = {
      {"transposed and back",
       "g (float16[1, 100, 8, 64] past, float16[1, 8, 1, 64] k) => (float16[1, 101, 8, 64] present) {"
       "a = Transpose <perm = [0, 2, 1, 3]> (past) b = Concat <axis = 2> (a, k)"
       "present = Transpose <perm = [0, 2, 1, 3]> (b) }",
       kPosition},
      {"transposed only",
       "g (float16[1, 100, 8, 64] past, float16[1, 8, 1, 64] k) => (float16[1, 8, 101, 64] present) {"
       "a = Transpose <perm = [0, 2, 1, 3]> (past) c = Relu (k) present = Concat <axis = 2> (a, c) }",
       kWhole},
      {"wider in between",
       "g (float16[1, 8, 100, 64] past, float[1, 8, 1, 64] k) => (float16[1, 8, 101, 64] present) {"
       "a = Cast <to = 1> (past) b = Concat <axis = 2> (a, k) present = Cast <to = 10> (b) }",
       kPosition},
      {"narrower in between",
       "g (float[1, 8, 100, 64] past, float16[1, 8, 1, 64] k) => (float[1, 8, 101, 64] present) {"
       "a = Cast <to = 10> (past) b = Concat <axis = 2> (a, k) present = Cast <to = 1> (b) }",
       2 * kWhole},
      {"a window that moves on",
       "g (float16[1, 8, 101, 64] past, float16[1, 8, 1, 64] k) => (float16[1, 8, 101, 64] present)"
       "<int64[1] one = {1}, int64[1] end = {101}, int64[1] axis = {2}> {"
       "a = Slice (past, one, end, axis) present = Concat <axis = 2> (a, k) }",
       kPosition},
      {"chosen by a mask",
       "g (float16[1, 8, 101, 64] past, float16[1, 8, 1, 64] k, bool[1, 1, 101, 1] here)"
       "=> (float16[1, 8, 101, 64] present) { present = Where (here, k, past) }",
       0},
      {"in a branch",
       "g (bool first, float16[1, 8, 100, 64] past, float16[1, 8, 1, 64] k, float16[1, 8, 101, 64] prompt)"
       "=> (float16[1, 8, 101, 64] present) {"
       "present = If (first) <then_branch = t () => (float16[1, 8, 101, 64] a) { a = Relu (prompt) },"
       "else_branch = e () => (float16[1, 8, 101, 64] b) { b = Concat <axis = 2> (past, k) }> }",
       kPosition},
      {"in a loop",
       "g (float16[1, 8, 101, 64] past, float16[1, 8, 1, 64] k, int64 n, int64[1] at)"
       "=> (float16[1, 8, 101, 64] present) <bool go = {1}> {"
       "present = Loop (n, go, past) <body = b (int64 i, bool c, float16[1, 8, 101, 64] s)"
       "=> (bool d, float16[1, 8, 101, 64] r) { d = Identity (c) r = TensorScatter (s, k, at) }> }",
       0},
      {"of all layers in one buffer",
       "g (float16[2, 8, 101, 64] past, float16[8, 1, 64] k, int64[1] at)"
       "=> (float16[2, 8, 101, 64] present) <int64[1] none = {0}> {"
       "a, b = Split <axis = 0, num_outputs = 2> (past) p = Relu (k) q = Neg (k)"
       "row = Unsqueeze (p, none) other = Unsqueeze (q, none)"
       "c = TensorScatter (a, row, at) d = TensorScatter (b, other, at) present = Concat <axis = 0> (c, d) }",
       2 * kPosition},
      {"around the new position",
       "g (float16[1, 8, 101, 64] past, float16[1, 8, 1, 64] k) => (float16[1, 8, 101, 64] present)"
       "<int64[1] zero = {0}, int64[1] ten = {10}, int64[1] next = {11}, int64[1] end = {101}, int64[1] axis = {2}> {"
       "a = Slice (past, zero, ten, axis) b = Slice (past, next, end, axis) r = Relu (k)"
       "present = Concat <axis = 2> (a, r, b) }",
       kPosition},
      {"stored in 8 bits",
       "g (int8[1, 8, 100, 64] past, float[1, 8, 1, 64] k) => (int8[1, 8, 101, 64] present)"
       "<float scale = {0.1}> {"
       "a = DequantizeLinear (past, scale) r = Relu (k) b = Concat <axis = 2> (a, r)"
       "zero = CastLike (scale, past) present = QuantizeLinear (b, scale, zero) }",
       kPosition / 2},
      {"turned twice, and back at once",
       "g (float16[8, 1, 64, 100] past, float16[100, 1, 8, 64] k) => (float16[8, 1, 64, 200] present) {"
       "a = Transpose <perm = [3, 1, 2, 0]> (past) b = Transpose <perm = [0, 1, 3, 2]> (a) r = Relu (k)"
       "c = Concat <axis = 0> (b, r) present = Transpose <perm = [2, 1, 3, 0]> (c) }",
       100 * kPosition},
      {"nothing is updated",
       "g (float16[1, 101, 8, 64] past) => (float16[1, 8, 101, 64] present) {"
       "present = Transpose <perm = [0, 2, 1, 3]> (past) }",
       kWhole},
  };
  for (const Form& form : forms) {
    SCOPED_TRACE(form.name);
    EXPECT_DOUBLE_EQ(FindCompulsoryTraffic(Read(form.text, {}, 24)).written, form.written);
  }
}

// An operator that nobody knows may update a buffer that it is handed.
TEST_F(CachesInPlace, OfUnknownOperators) {
  const ModelGraph graph = Read(R"(
      g (float16[1, 8, 100, 64] past, float16[1, 8, 1, 64] k)
        => (float[1, 512] y, float16[1, 8, 100, 64] present) {
        y, present = com.example.Attend (k, past)
      })",
                                {});
  EXPECT_DOUBLE_EQ(FindCompulsoryTraffic(graph).written, 512 * 4);
}

TEST_F(CachesInPlace, OfScattersThatAttentionReadsInPart) {
  const std::string text = R"(
      g (float16[b, 32, 1, 64] q, float16[b, 8, 1, 64] k, float16[b, 8, 1, 64] v, float16[b, 8, 4096, 64] past_k,
         float16[b, 8, 4096, 64] past_v, int64[b] place, int64[b] valid)
        => (float16[b, 32, 1, 64] y, float16[b, 8, 4096, 64] present_k, float16[b, 8, 4096, 64] present_v) {
        present_k = TensorScatter (past_k, k, place)
        present_v = TensorScatter (past_v, v, place)
        y = Attention <is_causal = 1> (q, present_k, present_v, , , , valid)
      })";
  const CompulsoryTraffic traffic = FindCompulsoryTraffic(Read(text, {{"b", 2}, {"cache.positions", 1000}}, 24));
  constexpr double kPlaces = 2 * 8;  // of both scatters
  EXPECT_DOUBLE_EQ(traffic.read, kQuery + 2 * kRow + kPlaces + 2 * 1000 * kRow);
  EXPECT_DOUBLE_EQ(traffic.written, kQuery + 2 * kRow);
}

TEST_F(Texts, WhatARunDecidesIsStatedWithinWhatCanBe) {
  EXPECT_THAT(ErrorOf(Grouped("p"), {{"b", 2}, {"p", 4096}, {"cache.positions", 4096}}),
              HasSubstr("--assume cache.positions=4096: of layer 'attention' it is from 0 to 4095"));
  EXPECT_THAT(ErrorOf(Grouped("p"), {{"b", 2}, {"p", 4096}, {"moe.experts", 2}}),
              HasSubstr("--assume moe.experts=2: the model has none; it has cache.positions"));
  EXPECT_THAT(ErrorOf(Grouped("p"), {{"b", 2}, {"p", 4096}, {"cache.positions@attentoin", 2}}),
              HasSubstr("did you mean 'cache.positions@attention'?"));
  EXPECT_THAT(ErrorOf("g (float[8] x) => (float[8] y) { y = Relu (x) }", {{"loop.trips", 3}}),
              HasSubstr("--assume loop.trips=3: nothing in the model depends on it"));
}

TEST_F(Texts, KeptElementsMakeWhatFollowsMeasurable) {
  const std::string text = R"(
      g (float[1000] mask, float[1000, 256] x) => (float[n, 256] y) <int64[1] first = {0}> {
        [keep] places = NonZero (mask)
        rows = Squeeze (places, first)
        picked = Gather (x, rows)
        [act] y = Relu (picked)
      })";
  EXPECT_EQ(Read(text, {}).layers.back().status, LayerStatus::kUnknown);
  const ModelGraph stated = Read(text, {{"kept.elements@keep", 300}});
  EXPECT_EQ(stated.layers.back().status, LayerStatus::kMeasurable);
  EXPECT_EQ(stated.layers.back().work.written.value, 300 * 256 * 4);
  EXPECT_EQ(stated.layers.front().work.read().value, 1000 * 4);
  EXPECT_EQ(stated.layers.front().work.written.value, 300 * 8 + 4);  // and how many they are
  EXPECT_THAT(stated.layers.front().reason, Not(HasSubstr("--assume")));
}

TEST_F(Texts, ALoopWhoseTripsAreNotKnownHasNoTime) {
  const std::string text = R"(
      g (float[64, 64] x, int64 n) => (float[64, 64] y) <bool go = {1}> {
        [loop] y = Loop (n, go, x) <body = b (int64 i, bool c, float[64, 64] s) => (bool d, float[64, 64] t) {
          d = Identity (c)
          [inner] t = Relu (s)
        }>
      })";
  MemorySource source;
  source.SetPeaks(testing::TestDeviceKey(), testing::TestPeaks());
  const Selection selection = testing::TestSelection(1);
  const ModelGraph open = Read(text, {});
  const ModelGraph stated = Read(text, {{"loop.trips", 10}});
  const Workload inner = *stated.layers.back().bodies[0].graph->layers.back().workload;
  source.Add(testing::MeasuredRow(KeyOf(inner), "one", {Latency(5), Latency(5)}), testing::TestEnvironment(1));
  const Result<Bracket> known = ComputeBracket(stated, source, selection);
  ASSERT_TRUE(known.ok()) << known.error().message;
  ASSERT_NE(known->Find(BoundVariant::kSequential), nullptr);
  EXPECT_DOUBLE_EQ(known->Find(BoundVariant::kSequential)->latency.count(), 50);
  EXPECT_THAT(known->Find(BoundVariant::kSequential)->assumptions, ::testing::Contains("assumed-loop.trips=10"));
  const Result<Bracket> unknown = ComputeBracket(open, source, selection);
  ASSERT_TRUE(unknown.ok()) << unknown.error().message;
  EXPECT_TRUE(unknown->bounds.empty());
  EXPECT_EQ(unknown->layers.back().status, LatencyStatus::kMissing);
  EXPECT_GT(unknown->coverage.missing, 0.99);
  EXPECT_EQ(TotalsOf(stated).written.value, 10 * 64 * 64 * 4);
  EXPECT_EQ(TotalsOf(open).written.value, 64 * 64 * 4);
  EXPECT_THAT(InspectTable(open, 200, {}), HasSubstr("of 1 loop that need not run one iteration each is counted"));
  EXPECT_THAT(InspectTable(stated, 200, {}), Not(HasSubstr("need not run")));
  // Which option states it is said beside the bracket as well.
  for (const std::string& shown : {InspectTable(open, 200, {}), BoundTable(open, *unknown, false, 200)})
    EXPECT_THAT(shown, HasSubstr("; --assume loop.trips=N or loop.trips@loop=N states it"));
  const ModelGraph never = Read(text, {{"loop.trips", 0}});
  EXPECT_EQ(TotalsOf(never).written.value, 0);
  const Result<Bracket> nothing = ComputeBracket(never, source, selection);
  ASSERT_TRUE(nothing.ok()) << nothing.error().message;
  EXPECT_TRUE(nothing->bounds.empty());
}

}  // namespace
}  // namespace infimum::language_model_test
