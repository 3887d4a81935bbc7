// Which dimension of a language model is what, by the names that exporters give.
#include "src/app/commands/llm/language_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/app/language_model_texts.h"

namespace infimum::language_model_test {
namespace {

using ::testing::HasSubstr;

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

TEST(TokenRoles, OfCachesAreFoundByKeysAndValuesAlone) {
  const auto past = [](const std::string& name) {
    const Dims dims = At({Input("input_ids", {"b", "s"}), Input(name, {"b", "8", "p", "64"}, DataType::kF32)},
                         {.batch = 1, .tokens = 1, .past = 5}, {{"other", 3}});
    const auto found = dims.find("p");
    return found == dims.end() ? 0 : found->second;
  };
  for (const char* name : {"key_states_0", "value_states.3", "layer0_k", "layers.1.v", "k0", "V_12", "past_key_1"})
    EXPECT_EQ(past(name), 5) << name;
  // Neither is as long as the past.
  const auto is_refused = [](const std::string& name) {
    return !FindRoles(std::vector{Input("input_ids", {"b", "s"}), Input(name, {"b", "3", "p", "64"}, DataType::kF32)},
                      {})
                .ok();
  };
  for (const char* name : {"pixel_values", "past_key_values.3.recurrent_state", "past_states_1"})
    EXPECT_TRUE(is_refused(name)) << name;
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

TEST(TokenRoles, OfBoundLengthsOfSomeCachesAreOfTheseAlone) {
  const std::vector<DeclaredInput> inputs = {Input("input_ids", {"b", "s"}),
                                             Input("past_key_0", {"b", "8", "p0", "64"}, DataType::kF32),
                                             Input("past_key_1", {"b", "8", "p1", "64"}, DataType::kF32)};
  const Result<LanguageModel> model = FindRoles(inputs, {{"p0", 1023}});
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_TRUE(model->Has({1, 1, 8192}));
  EXPECT_EQ(model->DimsAt({1, 1, 8192}), (Dims{{"b", 1}, {"s", 1}, {"p0", 1023}, {"p1", 8192}}));
  // Nothing is in a window that the context does not fill, or before the prompt.
  EXPECT_EQ(model->DimsAt({1, 1, 100}).at("p0"), 100);
  EXPECT_EQ(model->DimsAt({1, 7, 0}).at("p0"), 0);
  // Where all are bound there is no other context.
  const Result<LanguageModel> all = FindRoles(inputs, {{"p0", 1023}, {"p1", 1023}});
  ASSERT_TRUE(all.ok()) << all.error().message;
  EXPECT_TRUE(all->Has({1, 1, 1023}));
  EXPECT_FALSE(all->Has({1, 1, 8192}));
}

// Two layers as PyTorch exports them: that of past_key_0 reads the last 31 positions and makes its mask as long as the
// whole cache, that of past_key_1 reads all.
constexpr const char* kSliding = R"(
    g (int64[b, s] input_ids, float[b, 2, p0, 32] past_key_0, float[b, 2, p1, 32] past_key_1)
      => (float[b, s, 64] logits, float[b, 2, t0, 32] present_key_0, float[b, 2, t1, 32] present_key_1)
      <int64[2] of_table = {64, 64}, int64[4] heads = {0, -1, 2, 32}, int64[1] last = {-31}, int64[1] end = {100000},
       int64[1] along = {2}, int64[1] one = {1}> {
      table = ConstantOfShape (of_table)
      x = Gather (table, input_ids)
      rows = Reshape (x, heads)
      k = Transpose <perm = [0, 2, 1, 3]> (rows)
      kept = Slice (past_key_0, last, end, along)
      k0 = Concat <axis = 2> (kept, k)
      present_key_0 = Slice (k0, last, end, along)
      k0t = Transpose <perm = [0, 1, 3, 2]> (k0)
      s0 = MatMul (k, k0t)
      length = Shape <start = 2, end = 3> (past_key_0)
      new = Shape <start = 1, end = 2> (input_ids)
      of_mask = Add (length, new)
      mask = ConstantOfShape (of_mask)
      m0 = Add (s0, mask)
      y0 = MatMul (m0, k0)
      present_key_1 = Concat <axis = 2> (past_key_1, k)
      k1t = Transpose <perm = [0, 1, 3, 2]> (present_key_1)
      s1 = MatMul (y0, k1t)
      y1 = MatMul (s1, present_key_1)
      flat = Transpose <perm = [0, 2, 1, 3]> (y1)
      like = Shape (x)
      logits = Reshape (flat, like)
    })";

TEST_F(Texts, WindowsAreWhatComesBackShorter) {
  const std::filesystem::path path = Write(kSliding);
  ReadOptions options;
  options.dims = {{"b", 1}, {"s", 1}, {"p0", 500}, {"p1", 500}};
  EXPECT_FALSE(ReadModel(path, options).ok());
  const Result<LanguageModel> model = ReadLanguageModel(path, {}, 500);
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_EQ(model->windows, (Dims{{"p0", 31}}));
  EXPECT_EQ(model->asked, "");
  EXPECT_EQ(model->DimsAt({1, 1, 500}), (Dims{{"b", 1}, {"s", 1}, {"p0", 31}, {"p1", 500}}));
  // As long as all caches may have one length, they have it.
  EXPECT_EQ(ReadLanguageModel(path, {}, 31)->windows, Dims());
  EXPECT_EQ(ReadLanguageModel(path, {{"p0", 31}}, 500)->windows, (Dims{{"p0", 31}}));
}

TEST_F(Texts, LengthsThatAreNotFoundAreAskedFor) {
  // What comes back is as long as in the other layer: nothing says that it is a window's.
  std::string text = kSliding;
  const std::string returned = "present_key_0 = Slice (k0, last, end, along)";
  text.replace(text.find(returned), returned.size(), "present_key_0 = Concat <axis = 2> (past_key_0, k)");
  const Result<LanguageModel> model = ReadLanguageModel(Write(text), {}, 500);
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_EQ(model->windows, Dims());
  EXPECT_EQ(model->asked,
            "it cannot be read with 500 positions in each cache; bind the lengths of those of layers that look back "
            "over a window: --dim p0=N --dim p1=N");
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

}  // namespace
}  // namespace infimum::language_model_test
