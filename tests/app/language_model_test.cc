// Language models: which dimension is what by the names that exporters give, what their caches cost at least in each
// form, and the table of tokens.
#include "src/app/commands/llm/language_model.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <fstream>
#include <tuple>

#include "analyzer/bracket/bracket.h"
#include "analyzer/floor/compulsory_traffic.h"
#include "infimum/base/quantity_text.h"
#include "reports/inspect/inspect.h"
#include "reports/inspect/inspect_totals.h"
#include "src/app/commands/llm/llm.h"
#include "src/app/processes/temporary_folder.h"
#include "src/readers/onnx/read_model.h"
#include "src/synth/families.h"
#include "src/synth/onnx_file.h"
#include "tests/support/random_graph.h"

namespace infimum::language_model_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Dims = std::map<std::string, std::int64_t>;

DeclaredInput Input(const std::string& name, const std::vector<std::string>& dims, DataType type = DataType::kS64) {
  DeclaredInput input{name, type, {}, {}};
  for (const std::string& dim : dims) {
    const bool is_number = dim.find_first_not_of("0123456789") == std::string::npos;
    input.dims.push_back(is_number ? DeclaredDimension{std::stoll(dim), ""} : DeclaredDimension{std::nullopt, dim});
  }
  return input;
}

Dims At(const std::vector<DeclaredInput>& inputs, const TokensAt& at, const Dims& given = {}) {
  const Result<LanguageModel> model = FindRoles(inputs, given);
  EXPECT_TRUE(model.ok()) << model.error().message;
  return model.ok() ? model->DimsAt(at) : Dims();
}

TEST(TokenRoles, AreFoundByTheNamesOfHuggingFace) {
  const std::vector<DeclaredInput> inputs = {
      Input("input_ids", {"batch_size", "sequence_length"}),
      Input("attention_mask", {"batch_size", "past_sequence_length + sequence_length"}),
      Input("position_ids", {"batch_size", "sequence_length"}),
      Input("past_key_values.0.key", {"batch_size", "8", "past_sequence_length", "64"}, DataType::kF16),
      Input("past_key_values.0.value", {"batch_size", "8", "past_sequence_length", "64"}, DataType::kF16)};
  EXPECT_EQ(At(inputs, {4, 1, 1024}), (Dims{{"batch_size", 4},
                                            {"sequence_length", 1},
                                            {"past_sequence_length", 1024},
                                            {"past_sequence_length + sequence_length", 1025}}));
  EXPECT_EQ(At(inputs, {1, 128, 0})["past_sequence_length"], 0);
}

// Of a cache of these dimensions the one that is its length, as a number, beside a mask of so many.
std::int64_t LengthOf(const std::vector<std::string>& cache, const std::string& mask) {
  const Result<LanguageModel> model = FindRoles(
      std::vector{Input("input_ids", {"1", "1"}), Input("attention_mask", {"1", mask}), Input("cache_k.0", cache)}, {});
  EXPECT_TRUE(model.ok()) << model.error().message;
  if (!model.ok()) return 0;
  const auto fixed = model->fixed.find(TokenRole::kPast);
  return fixed == model->fixed.end() ? model->DimsAt({1, 1, 77})["p"] : fixed->second;
}

TEST(TokenRoles, OfStaticCachesAreThoseOfEitherLayout) {
  EXPECT_EQ(LengthOf({"1", "8", "4096", "64"}, "t"), 4096);
  EXPECT_EQ(LengthOf({"1", "4096", "8", "64"}, "t"), 4096);
  EXPECT_EQ(LengthOf({"24", "1", "4096", "8", "64"}, "t"), 4096);
  EXPECT_EQ(LengthOf({"1", "4096", "512"}, "t"), 4096);  // what keys and values are made of
  // Few positions: the mask says which it is, and without that heads come first.
  EXPECT_EQ(LengthOf({"1", "128", "32", "64"}, "128"), 128);
  EXPECT_EQ(LengthOf({"1", "128", "32", "64"}, "32"), 32);
  EXPECT_EQ(LengthOf({"1", "128", "32", "64"}, "t"), 32);
  EXPECT_EQ(LengthOf({"1", "p", "num_heads", "64"}, "t"), 77);
  EXPECT_EQ(LengthOf({"1", "num_heads", "4096", "64"}, "t"), 4096);
  EXPECT_EQ(LengthOf({"1", "8", "4096", "kv_cache_dim"}, "t"), 4096);
}

TEST(TokenRoles, AreFoundWhereSymbolsSayNothing) {
  // PyTorch's exporter numbers them; heads may be open, and the cache may lie by position first.
  const std::vector<DeclaredInput> inputs = {Input("input_ids", {"s72", "s70"}),
                                             Input("attention_mask", {"s72", "1", "s70", "s9"}),
                                             Input("cache_k", {"s72", "s17", "8", "64"}, DataType::kF32)};
  EXPECT_EQ(At(inputs, {2, 3, 5}), (Dims{{"s72", 2}, {"s70", 3}, {"s9", 8}, {"s17", 5}}));
}

TEST(TokenRoles, OfCachesInOtherOrdersAreThoseOfTheOtherInputs) {
  const DeclaredInput ids = Input("input_ids", {"batch_size", "sequence"});
  const Dims wanted{{"batch_size", 4}, {"sequence", 1}, {"past_length", 1000}};
  EXPECT_EQ(At({Input("past_key_values.0.key", {"past_length", "batch_size", "2", "128"}, DataType::kF16), ids},
               {4, 1, 1000}),
            wanted);
  EXPECT_EQ(At({ids, Input("past_k", {"past_length", "batch_size", "512"}, DataType::kF16)}, {4, 1, 1000}), wanted);
  // Keys that are stored transposed.
  EXPECT_EQ(At({ids, Input("past_k", {"batch_size", "8", "64", "past_length"}, DataType::kF16)}, {4, 1, 1000}), wanted);
}

TEST(TokenRoles, ThatAreNotKnownAreAskedFor) {
  const std::vector<DeclaredInput> inputs = {Input("input_ids", {"b", "s"}),
                                             Input("encoder_hidden_states", {"b", "frames", "384"}, DataType::kF32)};
  const Result<LanguageModel> model = FindRoles(inputs, {});
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.error().message,
            "it is not known what 'frames' (dimension 1 of input 'encoder_hidden_states') is; bind it with --dim "
            "frames=N");
  EXPECT_EQ(At(inputs, {1, 7, 0}, {{"frames", 1500}}), (Dims{{"b", 1}, {"s", 7}, {"frames", 1500}}));
  EXPECT_THAT(
      FindRoles(std::vector{Input("image", {"n", "3", "224", "224"}, DataType::kF32)}, {{"n", 1}}).error().message,
      HasSubstr("no input takes tokens"));
}

TEST(TokenRoles, OfBoundDimensionsTakeTheseAlone) {
  const std::vector<DeclaredInput> inputs = {Input("input_ids", {"b", "s"}),
                                             Input("past_k", {"b", "8", "p", "64"}, DataType::kF32)};
  const Result<LanguageModel> model = FindRoles(inputs, {{"b", 4}});
  ASSERT_TRUE(model.ok());
  EXPECT_TRUE(model->Has({4, 1, 1024}));
  EXPECT_FALSE(model->Has({1, 1, 1024}));
}

TEST(TokenRoles, OfAnEncodersCachesAreAskedFor) {
  const std::vector<DeclaredInput> inputs = {
      Input("input_ids", {"b", "s"}), Input("past_key_values.0.decoder.key", {"b", "6", "p", "64"}, DataType::kF32),
      Input("past_key_values.0.encoder.key", {"b", "6", "e", "64"}, DataType::kF32)};
  EXPECT_THAT(FindRoles(inputs, {}).error().message, HasSubstr("bind it with --dim e=N"));
  EXPECT_EQ(At(inputs, {1, 1, 9}, {{"e", 1500}}), (Dims{{"b", 1}, {"s", 1}, {"p", 9}, {"e", 1500}}));
}

TEST(TokenRoles, OfFixedDimensionsTakeTheseAlone) {
  const std::vector<DeclaredInput> inputs = {Input("input_ids", {"1", "1"}),
                                             Input("past_k", {"1", "8", "1024", "64"}, DataType::kF32)};
  const Result<LanguageModel> model = FindRoles(inputs, {});
  ASSERT_TRUE(model.ok());
  EXPECT_TRUE(model->Has({1, 1, 1024}));
  EXPECT_FALSE(model->Has({1, 1, 512}));
  EXPECT_FALSE(model->Has({2, 1, 1024}));
  EXPECT_FALSE(model->Has({1, 16, 0}));
}

class Texts : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryFolder> folder = TemporaryFolder::Make();
    ASSERT_TRUE(folder.ok()) << folder.error().message;
    folder_.emplace(*std::move(folder));
  }

  std::filesystem::path Write(const std::string& graph, int opset = 23) {
    onnx::ModelProto model;
    const std::string text =
        "<ir_version: 10, opset_import: [\"\" : " + std::to_string(opset) + ", \"com.microsoft\" : 1]> " + graph;
    const auto parsed = onnx::OnnxParser::Parse(model, text.c_str());
    EXPECT_TRUE(parsed.IsOK()) << parsed.ErrorMessage();
    const std::filesystem::path path = folder_->path() / "model.onnx";
    std::ofstream(path, std::ios::binary) << model.SerializeAsString();
    return path;
  }

  ModelGraph Read(const std::string& graph, const Dims& dims, int opset = 23) {
    ReadOptions options;
    options.dims = dims;
    Result<ModelGraph> read = ReadModel(Write(graph, opset), options);
    EXPECT_TRUE(read.ok()) << read.error().message;
    if (!read.ok()) return {};
    const Status valid = Validate(*read);
    EXPECT_TRUE(valid.ok()) << valid.error().message;
    return *std::move(read);
  }
  std::string ErrorOf(const std::string& graph, const Dims& dims) {
    ReadOptions options;
    options.dims = dims;
    const Result<ModelGraph> read = ReadModel(Write(graph), options);
    return read.ok() ? "" : read.error().message;
  }

  std::optional<TemporaryFolder> folder_;
};

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
  const ModelGraph never = Read(text, {{"loop.trips", 0}});
  EXPECT_EQ(TotalsOf(never).written.value, 0);
  const Result<Bracket> nothing = ComputeBracket(never, source, selection);
  ASSERT_TRUE(nothing.ok()) << nothing.error().message;
  EXPECT_TRUE(nothing->bounds.empty());
}

TEST_F(Texts, AStaticCacheHoldsAnyContextUpToItsLength) {
  const Result<LanguageModel> model = ReadLanguageModel(Write(R"(
      g (int64[1, 1] input_ids, float[1, 1, 1, 1024] attention_mask, int64[1, 1, 2] at, float[1, 1024, 2, 32] cache_k)
        => (float[1, 1, 64] logits, float[1, 1024, 2, 32] present_k)
        <int64[2] of_table = {64, 64}, int64[3] row = {1, 2, 32}> {
        table = ConstantOfShape (of_table)
        x = Gather (table, input_ids)
        k = Reshape (x, row)
        present_k = ScatterND (cache_k, at, k)
        logits = Relu (x)
      })",
                                                              21),
                                                        {});
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_TRUE(model->Has({1, 1, 1023}));
  EXPECT_TRUE(model->Has({1, 1, 100}));
  EXPECT_FALSE(model->Has({1, 1, 1024}));
  EXPECT_EQ(model->DimsAt({1, 1, 100}), Dims());  // nothing says that a part of it is valid
}

// A decoder of one layer as the builder of ONNX Runtime GenAI writes it, 256 wide with heads of 64.
constexpr const char* kDecoder = R"(
    g (int64[batch_size, sequence_length] input_ids, int64[batch_size, total_sequence_length] attention_mask,
       float16[batch_size, 2, past_sequence_length, kv_cache_dim] past_key_values.0.key,
       float16[batch_size, 2, past_sequence_length, kv_cache_dim] past_key_values.0.value)
      => (float16[batch_size, sequence_length, 1000] logits,
          float16[batch_size, 2, total_sequence_length, kv_cache_dim] present.0.key,
          float16[batch_size, 2, total_sequence_length, kv_cache_dim] present.0.value)
      <int32[1] one = {1}, int64[1] axis = {1}, int64[1] first = {0}, int64[1] last = {2}, int64[2] of_table = {1000, 256},
       int64[2] of_q = {256, 256}, int64[2] of_k = {256, 128}, int64[2] of_head = {256, 1000}> {
      table = ConstantOfShape <value: tensor = float16[1] {1}> (of_table)
      wq = ConstantOfShape <value: tensor = float16[1] {1}> (of_q)
      wk = ConstantOfShape <value: tensor = float16[1] {1}> (of_k)
      wv = ConstantOfShape <value: tensor = float16[1] {1}> (of_k)
      head = ConstantOfShape <value: tensor = float16[1] {1}> (of_head)
      x = Gather (table, input_ids)
      q = MatMul (x, wq)
      k = MatMul (x, wk)
      v = MatMul (x, wv)
      sums = ReduceSum (attention_mask, axis)
      sums32 = Cast <to = 6> (sums)
      lengths = Sub (sums32, one)
      shape = Shape (attention_mask)
      total64 = Slice (shape, axis, last, first)
      total = Cast <to = 6> (total64)
      y, present.0.key, present.0.value = com.microsoft.GroupQueryAttention <num_heads = 4, kv_num_heads = 2>
          (q, k, v, past_key_values.0.key, past_key_values.0.value, lengths, total)
      logits = MatMul (y, head)
    })";

TEST_F(Texts, ATableHasWhatTokensTakeAtLeast) {
  LlmOptions options;
  // The text form has no dots in names.
  std::string text = kDecoder;
  for (const auto& [from, to] :
       {std::pair("past_key_values.0.", "past_key_values_0_"), std::pair("present.0.", "present_0_")})
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from))
      text.replace(at, std::string(from).size(), to);
  options.decode = Write(text, 21);
  options.batches = {1, 4};
  options.contexts = {1000, 100'000};
  options.weights = {"own", "s4"};
  options.sweep.devices = {"h100-sxm", "l40s"};
  options.sweep.database = (folder_->path() / "none.db").string();
  Talk talk = Talk::ToStandardError(Loudness::kQuiet);
  const Result<SweepReport> report = MakeLlmReport(options, talk);
  ASSERT_TRUE(report.ok()) << report.error().message;
  ASSERT_EQ(report->cells.size(), 2u * 2 * 2 * 2 * 2);
  constexpr const char* kNothingChanges =
      "weights f16: the model's own stay, which are stored so, or in fewer bits, already";
  EXPECT_THAT(report->remarks, ::testing::Not(::testing::Contains(HasSubstr("the model's own stay"))));
  options.weights = {"own", "s4", "f16"};
  const Result<SweepReport> unchanged = MakeLlmReport(options, talk);
  ASSERT_TRUE(unchanged.ok()) << unchanged.error().message;
  EXPECT_THAT(unchanged->remarks, ::testing::Contains(kNothingChanges));
  const auto cell = [&](const std::string& device, const std::string& phase, const std::string& weights,
                        const std::string& batch, const std::string& context) -> const SweepCell& {
    for (const SweepCell& one : report->cells)
      if (one.device.find(device) != std::string::npos && one.fields.at("phase") == phase &&
          one.fields.at("weights") == weights && one.fields.at("batch") == batch && one.fields.at("context") == context)
        return one;
    ADD_FAILURE() << device << phase << weights << batch << context;
    return report->cells.front();
  };
  // Caches of 4 sequences: 2 x 2 heads x 64 elements of f16 a position. Tokens, mask and a row of the table beside
  // them.
  const CellFacts& facts = cell("H100", "decode", "own", "4", "100000").facts;
  ASSERT_TRUE(facts.inputs.has_value());
  EXPECT_NEAR(static_cast<double>(facts.inputs->value), 4.0 * 100'000 * 2 * 2 * 64 * 2, 4 * 100'001 * 8 + 64);
  ASSERT_TRUE(facts.weights.has_value());
  constexpr std::int64_t kOne = 4;  // the number that the lengths are one more than
  EXPECT_EQ(facts.weights->value, kOne + 2 * (1000 * 256 + 256 * 256 + 2 * 256 * 128 + 256 * 1000));
  // In blocks of 32 with a scale of f16 each; the table is no product's.
  const double products = 256.0 * 256 + 2 * 256 * 128 + 256 * 1000;
  EXPECT_EQ(static_cast<double>(cell("H100", "decode", "s4", "4", "1000").facts.weights->value),
            kOne + 2 * 1000 * 256 + products / 2 + products / 32 * 2);
  EXPECT_LE(*cell("H100", "decode", "s4", "4", "100000").facts.floor, *facts.floor);
  EXPECT_LT(*facts.floor, *cell("L40S", "decode", "own", "4", "100000").facts.floor);
  EXPECT_LT(*cell("L40S", "decode", "own", "1", "1000").facts.floor,
            *cell("L40S", "prefill", "own", "1", "100000").facts.floor);

  const Section table = TokensSection(*report);
  EXPECT_EQ(table.rows.size(), 16u);
  const std::string shown = TokensText(*report, 0);
  EXPECT_THAT(shown, HasSubstr("tokens/s, most"));
  EXPECT_THAT(SweepHeadline(*report),
              ::testing::ContainsRegex(": at most [0-9]+ tokens/s on NVIDIA [^,]+, [0-9]+ on NVIDIA "
                                       "[^,]+, at batch 1 and context 1000."));
  EXPECT_LT(shown.find("own"), shown.find("s4"));
  // A GPU has no threads to be said, a processor has.
  EXPECT_THAT(shown, Not(HasSubstr("thread")));
  SweepReport of_processor = *report;
  for (SweepCell& changed : of_processor.cells) changed.kind = DeviceKind::kCpu;
  EXPECT_THAT(TokensText(of_processor, 0), HasSubstr("L40S, 1 thread "));

  // The page's curves are of the table's numbers, a pair for each device and type of weights.
  const std::string page = SweepPage(*report);
  std::size_t charts = 0, dots = 0;
  for (std::size_t at = page.find("token-curves\""); at != std::string::npos; at = page.find("token-curves\"", at + 1))
    ++charts;
  EXPECT_EQ(charts, 2u * 2 * 2);
  for (const TokenRow& row : TokenRows(*report)) {
    ASSERT_TRUE(row.first && row.token);
    for (const auto& [what, value, by] :
         {std::tuple("TTFT, least", FormatLatency(*row.first), row.first_by),
          std::tuple("tokens/s, most", fmt::format("{:.{}f}", *row.rate(), *row.rate() < 100 ? 1 : 0), row.token_by)}) {
      const std::string hint =
          fmt::format("batch {}, context {}\n{} {}\ndecided by {}</title>", row.batch, row.context, what, value, by);
      EXPECT_THAT(page, HasSubstr(hint));
      EXPECT_THAT(shown, HasSubstr(value));
      ++dots;
    }
  }
  EXPECT_EQ(dots, 2u * table.rows.size());
  // Rooflines where there is room; never below what is least.
  EXPECT_THAT(shown, HasSubstr("TPOT, roofline"));
  EXPECT_THAT(TokensText(*report, 100), Not(HasSubstr("roofline")));
  for (const SweepCell& one : report->cells) {
    ASSERT_TRUE(one.roofline.has_value());
    EXPECT_GE(*one.roofline, *one.facts.floor);
    EXPECT_EQ(one.known, std::nullopt);
  }
  // Prefills and steps are never in one median: of the page's other tables there are none.
  EXPECT_TRUE(report->speed_ups.empty());
  EXPECT_EQ(report->sensitivity, std::nullopt);
  EXPECT_EQ(report->devices.front().floor_map, std::nullopt);
  const Section deciders = TokenDeciders(*report);
  ASSERT_FALSE(deciders.rows.empty());
  EXPECT_THAT(deciders.rows.front().back().text, HasSubstr("arithmetic f16 up to 1000, caches from 100000"));
  // Of weights in 4 bits what becomes of the bytes, and the type that stays.
  EXPECT_THAT(report->remarks, ::testing::Contains(HasSubstr(" with weights s4: those of MatMul and Gemm")));
}

TEST(LlmWeights, AreContracts) {
  EXPECT_EQ(*ContractOfWeights("int4"), "own/s4");
  EXPECT_EQ(*ContractOfWeights("f16"), "f16");
  EXPECT_EQ(*ContractOfWeights("bf16/s8"), "bf16/s8");
  EXPECT_EQ(*ContractOfWeights("f32/fp8"), "strict-f32/f8e4m3");
  for (const char* wrong : {"s3", "s4/f16", "f16/f16", "/s4", "f16/", ""})
    EXPECT_THAT(ContractOfWeights(wrong).error().message, HasSubstr("types of weights are own, f32")) << wrong;
}

// A decoder with and without caches in one file: each phase takes its branch.
TEST_F(Texts, OfAMergedDecoderEachPhaseTakesItsBranch) {
  LlmOptions options;
  options.decode = Write(R"(
      g (int64[batch_size, sequence_length] input_ids, float16[batch_size, 2, past_length, 64] past_key,
         bool[1] use_cache_branch) => (float16[batch_size, 2, sequence_length, past] scores,
         float16[batch_size, 2, total, 64] present_key)
      <int64[4] split = {0, 0, 2, 64}, int64[2] of_table = {1000, 128}, int64[2] of_weights = {128, 128}> {
        table = ConstantOfShape <value: tensor = float16[1] {1}> (of_table)
        weights = ConstantOfShape <value: tensor = float16[1] {1}> (of_weights)
        x = Gather (table, input_ids)
        k = MatMul (x, weights)
        heads = Reshape (k, split)
        new = Transpose <perm = [0, 2, 1, 3]> (heads)
        scores, present_key = If (use_cache_branch) <
          then_branch = t () => (float16[a, b, c, d] s1, float16[a, b, e, 64] p1) {
            p1 = Concat <axis = 2> (past_key, new)
            t1 = Transpose <perm = [0, 1, 3, 2]> (p1)
            s1 = MatMul (new, t1)
          },
          else_branch = e () => (float16[a, b, c, d] s2, float16[a, b, e, 64] p2) {
            p2 = Identity (new)
            t2 = Transpose <perm = [0, 1, 3, 2]> (p2)
            s2 = MatMul (new, t2)
          }>
      })");
  options.batches = {1};
  options.contexts = {1 << 20};
  options.sweep.devices = {"h100-sxm"};
  options.sweep.database = (folder_->path() / "none.db").string();
  Talk talk = Talk::ToStandardError(Loudness::kQuiet);
  const Result<SweepReport> report = MakeLlmReport(options, talk);
  ASSERT_TRUE(report.ok()) << report.error().message;
  for (const SweepCell& cell : report->cells) {
    if (cell.fields.at("phase") != "decode") continue;
    ASSERT_TRUE(cell.facts.inputs && cell.facts.floor) << cell.reason;
    // A million positions of two heads, of which a part may lie in the caches.
    EXPECT_NEAR(static_cast<double>(cell.facts.inputs->value), 2.0 * 64 * 2 * (1 << 20), 64);
    EXPECT_GT(cell.facts.floor->count(), 1e6 * (2.0 * 64 * 2 * (1 << 20) - 200e6) / 3.4e12);
  }
  EXPECT_THAT(report->remarks, Not(::testing::Contains(HasSubstr("if.then"))));
}

// What was asked for and the file cannot take is said.
TEST_F(Texts, CellsThatAFileCannotTakeAreSaid) {
  LlmOptions options;
  options.decode = Write(R"(
      g (int64[1, sequence_length] input_ids) => (float[1, sequence_length, 64] y) <int64[2] of_table = {100, 64}> {
        table = ConstantOfShape <value: tensor = float[1] {1}> (of_table)
        y = Gather (table, input_ids)
      })");
  options.batches = {1, 8};
  options.contexts = {10};
  options.sweep.devices = {"h100-sxm"};
  options.sweep.database = (folder_->path() / "none.db").string();
  Talk talk = Talk::ToStandardError(Loudness::kQuiet);
  const Result<SweepReport> report = MakeLlmReport(options, talk);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->cells.size(), 1u);
  EXPECT_THAT(report->remarks, ::testing::Contains(::testing::ContainsRegex("left out: 1 of 2 prefill cells of .*"
                                                                            "fixed \\(batch 1\\)")));
  EXPECT_THAT(report->remarks, ::testing::Contains(HasSubstr("has no caches among its inputs")));
  // Pictures are no tokens, whatever the input is called.
  options.decode = Write("g (float[batch, 3, 8, 8] input) => (float[batch, 3, 8, 8] y) { y = Relu (input) }");
  EXPECT_THAT(MakeLlmReport(options, talk).error().message, HasSubstr("no input takes tokens"));
}

// A step reads the whole of a buffer of which only a mask says what is valid: it stands at the buffer's length.
TEST_F(Texts, AStepOverABufferStandsAtItsLength) {
  LlmOptions options;
  options.decode = Write(R"(
      g (int64[1, 1] input_ids, float16[1, 2, 4096, 64] past_key, float16[1, 1, 1, 4096] mask, int64[1] at)
        => (float16[1, 2, 1, 64] y, float16[1, 2, 4096, 64] present_key)
      <int64[2] of_table = {100, 128}, int64[4] split = {1, 1, 2, 64}> {
        table = ConstantOfShape <value: tensor = float16[1] {1}> (of_table)
        x = Gather (table, input_ids)
        heads = Reshape (x, split)
        new = Transpose <perm = [0, 2, 1, 3]> (heads)
        present_key = TensorScatter <axis = 2> (past_key, new, at)
        y = Attention (new, present_key, present_key, mask)
      })",
                         24);
  options.batches = {1};
  options.contexts = {100, 1000};
  options.sweep.devices = {"h100-sxm"};
  options.sweep.database = (folder_->path() / "none.db").string();
  Talk talk = Talk::ToStandardError(Loudness::kQuiet);
  const Result<SweepReport> report = MakeLlmReport(options, talk);
  ASSERT_TRUE(report.ok()) << report.error().message;
  ASSERT_EQ(report->cells.size(), 1u);
  EXPECT_EQ(report->cells.front().fields.at("context"), "4096");
  EXPECT_THAT(report->remarks, ::testing::Contains(HasSubstr("are buffers of 4096 positions")));
}

// Whatever only a run decides is counted at its least, and the table says so.
TEST_F(Texts, ATableSaysWhatIsCountedAtItsLeast) {
  LlmOptions options;
  options.decode = Write(R"(
      g (int64[batch_size, sequence_length] input_ids, float[batch_size, 2, past_length, 64] past_key)
        => (float[kept, 64] y, float[batch_size, 2, total, 64] present_key)
      <int64[2] of_table = {100, 64}, int64[1] first = {0}, int64[2] flat = {-1, 64}> {
        table = ConstantOfShape <value: tensor = float[1] {1}> (of_table)
        x = Gather (table, input_ids)
        rows = Reshape (x, flat)
        ones = Cast <to = 1> (input_ids)
        [keep] places = NonZero (ones)
        row = Gather (places, first)
        picked = Squeeze (row, first)
        y = Gather (rows, picked)
        present_key = Concat <axis = 2> (past_key, past_key)
      })");
  options.batches = {1};
  options.contexts = {100};
  options.sweep.devices = {"h100-sxm"};
  options.sweep.database = (folder_->path() / "none.db").string();
  Talk talk = Talk::ToStandardError(Loudness::kQuiet);
  const Result<SweepReport> report = MakeLlmReport(options, talk);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_THAT(TokensText(*report, 0), HasSubstr("counted at its least, which any run has: kept.elements;"));
  EXPECT_THAT(TokensText(*report, 0), HasSubstr("leave out layers that are not known, the first that of "));
  options.dims = {{"kept.elements", 1}};
  const Result<SweepReport> stated = MakeLlmReport(options, talk);
  ASSERT_TRUE(stated.ok()) << stated.error().message;
  EXPECT_THAT(TokensText(*stated, 0), Not(HasSubstr("at its least")));
}

// What follows an operator whose result only a run decides is unknown for that reason, and said once.
TEST_F(Texts, UnknownLayersStandWithTheirCause) {
  const ModelGraph graph = Read(R"(
      g (float[1000] mask, float[1000, 256] x) => (float[n, 256] y) <int64[1] first = {0}> {
        [keep] places = NonZero (mask)
        rows = Squeeze (places, first)
        [pick] picked = Gather (x, rows)
        [act] a = Relu (picked)
        [twice] y = Add (a, a)
      })",
                                {});
  const std::string text = InspectTable(graph, 0, {});
  EXPECT_THAT(text,
              HasSubstr("\nunknown, 1 layer (keep) and 3 layers behind it (pick, ...): how many elements it keeps"));
  EXPECT_THAT(text, Not(HasSubstr("\nunknown, 1 layer (act)")));
}

// A Llama 3 in f16 at batch 1 on a device that only a data sheet knows: tokens a second at most, behind so many
// positions.
using Parameters = std::map<std::string, std::string>;
double MostRate(const std::filesystem::path& folder, Parameters parameters, const char* device, std::int64_t context) {
  parameters.merge(Parameters{{"kv-heads", "8"},
                              {"heads", "32"},
                              {"vocabulary", "128256"},
                              {"type", "f16"},
                              {"context", std::to_string(context + 1)}});
  const synth::Family& family = *synth::FindFamily("decoder");
  const auto points = synth::PointsOf(family, parameters, 1);
  EXPECT_TRUE(points.ok()) << points.error().message;
  const auto net = synth::MakeNet(family, points->front(), synth::Blocks::kUnrolled);
  LlmOptions options;
  options.decode = folder / "llama.onnx";
  EXPECT_TRUE(synth::WriteOnnx(*net, {}, options.decode).ok());
  options.batches = {1};
  options.contexts = {context};
  options.sweep.database = (folder / "none.db").string();
  options.sweep.devices = {device};
  Talk talk = Talk::ToStandardError(Loudness::kQuiet);
  const Result<SweepReport> report = MakeLlmReport(options, talk);
  EXPECT_TRUE(report.ok()) << report.error().message;
  if (!report.ok() || report->cells.size() != 1 || !report->cells[0].facts.floor) return 0;
  return 1 / std::chrono::duration<double>(*report->cells[0].facts.floor).count();
}

// What others reached: no floor is above it, and none far below. llama.cpp with Llama 3 8B in f16, over 1,024 tokens
// (May 2024: github.com/XiongjieDai/GPU-Benchmarks-on-LLM-Inference, revision aa72e0ec); one kernel for all of
// Llama 3.2 1B in bf16, 32 tokens of prompt and 128 generated, with 78 % of the memory's bandwidth (May 2025:
// hazyresearch.stanford.edu/blog/2025-05-27-no-bubbles), which is so many times its 1,235,814,400 weights.
TEST_F(Texts, PublishedRatesOfLlamaAreBelowWhatIsMost) {
  struct Published {
    const char* device;
    double rate;
    Parameters parameters;
    std::int64_t context;
  };
  const Parameters large{{"layers", "32"}, {"hidden", "4096"}, {"feed-forward", "14336"}};
  const Parameters small{{"layers", "16"}, {"hidden", "2048"}, {"feed-forward", "8192"}};
  const std::vector<Published> rates = {{"NVIDIA L40S", 43.42, large, 511},
                                        {"NVIDIA H100 PCIe", 67.79, large, 511},
                                        {"NVIDIA GeForce RTX 3090", 46.51, large, 511},
                                        {"NVIDIA GeForce RTX 4090", 54.34, large, 511},
                                        {"H100 SXM", 0.78 * 3352e9 / (2 * 1235814400.0), small, 96}};
  for (const Published& published : rates) {
    const double most = MostRate(folder_->path(), published.parameters, published.device, published.context);
    EXPECT_GT(most, published.rate) << published.device;
    EXPECT_LT(most, 3 * published.rate) << published.device;
  }
}

TEST(WeightTypes, HaveTheNamesThatPeopleUse) {
  EXPECT_EQ(*ContractOfWeights("int4"), "own/s4");
  EXPECT_EQ(*ContractOfWeights("fp16"), "f16");
  EXPECT_THAT(ContractOfWeights("int3").error().message, HasSubstr("--weights 'int3': types of weights are own, f32"));
}

}  // namespace
}  // namespace infimum::language_model_test
