// The table of tokens, and the published rates that it is held against.
#include "src/app/commands/llm/llm.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "analyzer/floor/compulsory_traffic.h"
#include "infimum/base/text.h"
#include "reports/inspect/inspect.h"
#include "src/synth/families.h"
#include "src/synth/onnx_file.h"
#include "tests/app/language_model_texts.h"

namespace infimum::language_model_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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
  ProgressLog log = ProgressLog::ToStandardError(Loudness::kQuiet);
  const Result<SweepReport> report = MakeLlmReport(options, log);
  ASSERT_TRUE(report.ok()) << report.error().message;
  ASSERT_EQ(report->cells.size(), 2u * 2 * 2 * 2 * 2);
  constexpr const char* kNothingChanges =
      "weights f16: the model's own stay, which are stored so, or in fewer bits, already";
  EXPECT_THAT(report->remarks, ::testing::Not(::testing::Contains(HasSubstr("the model's own stay"))));
  options.weights = {"own", "s4", "f16"};
  const Result<SweepReport> unchanged = MakeLlmReport(options, log);
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
  // What no data sheet has is said, and where it is known how much it is.
  EXPECT_THAT(report->remarks, ::testing::Contains(HasSubstr("starts of kernels are in no time of NVIDIA H100")));
  SweepReport of_launches = *report;
  for (SweepCell& one : of_launches.cells) one.launches = 0.25 * *one.roofline;
  EXPECT_THAT(TokensText(of_launches, 0), HasSubstr("; 25 % of its roofline are launches"));
  EXPECT_THAT(shown, Not(HasSubstr("launches")));
  // Caches that have no room have none behind a prefill either.
  SweepReport full = *report;
  for (SweepCell& one : full.cells)
    if (one.fields.at("phase") == "decode" && one.fields.at("context") == "100000") {
      one.state = CellState::kOutOfMemory;
      one.reason = "more than is there";
    }
  for (const TokenRow& row : TokenRows(full)) EXPECT_EQ(row.first.has_value(), row.context == 1000) << row.context;
  // Of weights in 4 bits what becomes of the bytes, and the type that stays.
  EXPECT_THAT(report->remarks, ::testing::Contains(HasSubstr(" with weights s4: those of MatMul, Gemm and MoE")));
}

TEST_F(Texts, ExpertsAreStoredInFewerBits) {
  const std::filesystem::path path = Write(R"(
      g (float16[1, 128] x, float16[1, 8] router) => (float16[1, 128] y)
      <int64[3] up = {8, 256, 128}, int64[3] down = {8, 128, 256}> {
        w1 = ConstantOfShape <value: tensor = float16[1] {1}> (up)
        w2 = ConstantOfShape <value: tensor = float16[1] {1}> (down)
        y = com.microsoft.MoE <k = 2> (x, router, w1, , w2)
      })");
  const auto read = [&](std::optional<DataType> weights) {
    ReadOptions options;
    options.weights = weights;
    const Result<ModelGraph> graph = ReadModel(path, options);
    EXPECT_TRUE(graph.ok() && Validate(*graph).ok());
    return graph.ok() ? FindCompulsoryTraffic(*graph).read : 0;
  };
  constexpr double kOfTwo = 2 * 2 * 256 * 128;  // elements of two experts
  const double own = read(std::nullopt);
  EXPECT_DOUBLE_EQ(own - read(DataType::kS4), kOfTwo * (2 - 0.5 - 2.0 / 32));
  EXPECT_DOUBLE_EQ(own - read(DataType::kS8), kOfTwo * (2 - 1 - 2.0 / 32));
  EXPECT_DOUBLE_EQ(own - read(DataType::kF8E4M3), kOfTwo * (2 - 1));
}

// Two of eight experts for each of four tokens, picked from what is dequantized or cast: two at the least are read, as
// they are stored.
TEST_F(Texts, ExpertsBehindDequantizationAreReadAsTheyAreChosen) {
  const auto read = [&](const std::string& weights) {
    const ModelGraph graph = Read(R"(
        g (float[4, 8] router, float[8, 1, 64] x) => (float[8, 1, 32] y)
        <int64[3] of_w = {8, 64, 32}, int64[3] of_s = {8, 2, 32}, int64[1] k = {2}, int64[1] flat = {-1}> {
          )" + weights + R"(
          values, indices = TopK <axis = -1> (router, k)
          chosen = Reshape (indices, flat)
          [pick] slices = Gather <axis = 0> (whole, chosen)
          y = MatMul (x, slices)
        })",
                                  {}, 21);
    EXPECT_EQ(graph.quantities.size(), 1u);
    return FindCompulsoryTraffic(graph).read;
  };
  constexpr double kOthers = 4 * 8 * 4 + 8 * 64 * 4, kSlice = 64 * 32;
  EXPECT_DOUBLE_EQ(read("w = ConstantOfShape <value: tensor = int4[1] {1}> (of_w) s = ConstantOfShape (of_s) "
                        "whole = DequantizeLinear <axis = 1, block_size = 32> (w, s)"),
                   kOthers + 2 * (kSlice / 2 + 2 * 32 * 4));
  EXPECT_DOUBLE_EQ(read("w = ConstantOfShape <value: tensor = bfloat16[1] {1}> (of_w) whole = Cast <to = 1> (w)"),
                   kOthers + 2 * kSlice * 2);
}

// A decoder of one layer of experts, which a token chooses two of.
constexpr const char* kOfExperts = R"(
    g (int64[b, s] input_ids, float16[b, 2, p, 64] past_key) => (float16[b, s, 128] y, float16[b, 2, t, 64] present_key)
    <int64[2] of_table = {100, 128}, int64[2] of_router = {128, 8}, int64[3] up = {8, 256, 128},
     int64[3] down = {8, 128, 256}, int64[2] rows = {-1, 8}, int64[4] heads = {0, -1, 2, 64}> {
      table = ConstantOfShape <value: tensor = float16[1] {1}> (of_table)
      x = Gather (table, input_ids)
      wr = ConstantOfShape <value: tensor = float16[1] {1}> (of_router)
      chosen = MatMul (x, wr)
      router = Reshape (chosen, rows)
      w1 = ConstantOfShape <value: tensor = float16[1] {1}> (up)
      w2 = ConstantOfShape <value: tensor = float16[1] {1}> (down)
      y = com.microsoft.MoE <k = 2> (x, router, w1, , w2)
      split = Reshape (x, heads)
      k = Transpose <perm = [0, 2, 1, 3]> (split)
      present_key = Concat <axis = 2> (past_key, k)
    })";

LlmOptions Asked(std::vector<std::int64_t> batches, std::vector<std::int64_t> contexts) {
  LlmOptions options;
  options.batches = std::move(batches);
  options.contexts = std::move(contexts);
  return options;
}

Result<SweepReport> ReportOn(const std::filesystem::path& model, LlmOptions options) {
  options.decode = model;
  if (options.sweep.devices.empty()) options.sweep.devices = {"h100-sxm"};
  options.sweep.database = (model.parent_path() / "none.db").string();
  ProgressLog log = ProgressLog::ToStandardError(Loudness::kQuiet);
  return MakeLlmReport(options, log);
}

TEST_F(Texts, ExpertsThatAreStatedAreLimitedToWhatCanBeRead) {
  LlmOptions options = Asked({1, 8}, {10});
  options.dims = {{"moe.experts", 5}};
  const Result<SweepReport> report = ReportOn(Write(kOfExperts), options);
  ASSERT_TRUE(report.ok()) << report.error().message;
  ASSERT_EQ(report->cells.size(), 4u);
  for (const SweepCell& cell : report->cells) EXPECT_EQ(cell.reason, "");
  EXPECT_THAT(report->remarks, ::testing::Contains("--assume moe.experts=5: where that cannot be, the nearest number "
                                                   "that can: 2 in 1 decode cell"));
}

TEST_F(Texts, OtherDevicesThatANameFitsAreSaid) {
  LlmOptions options = Asked({1}, {10});
  options.sweep.devices = {"h100"};
  const Result<SweepReport> report = ReportOn(Write(kOfExperts), options);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_THAT(report->remarks,
              ::testing::Contains("NVIDIA H100 80GB HBM3, by its data sheet; 'h100' may also be NVIDIA "
                                  "H100 PCIe, NVIDIA H100 NVL"));
  options.sweep.devices = {"h100 nvl"};
  EXPECT_THAT(ReportOn(Write(kOfExperts), options)->remarks, Not(::testing::Contains(HasSubstr("may also be"))));
}

TEST_F(Texts, WeightsOfFewBitsStayInATypeOfAllValues) {
  const std::string text = R"(
      g (int64[b, s] input_ids, float[b, 2, p, 64] past_key) => (float[b, s, 64] y, float[b, 2, t, 64] present_key)
      <int64[2] of_table = {100, 128}, int64[4] heads = {0, -1, 2, 64}, int64[3] of_packed = {64, 4, 16},
       int64[1] of_scales = {256}> {
        table = ConstantOfShape (of_table)
        packed = ConstantOfShape <value: tensor = uint8[1] {1}> (of_packed)
        scales = ConstantOfShape (of_scales)
        x = Gather (table, input_ids)
        y = com.microsoft.MatMulNBits <K = 128, N = 64, bits = 4, block_size = 32> (x, packed, scales)
        split = Reshape (x, heads)
        k = Transpose <perm = [0, 2, 1, 3]> (split)
        present_key = Concat <axis = 2> (past_key, k)
      })";
  const auto remarks = [&](const std::vector<std::string>& weights, const std::string& graph) {
    LlmOptions options = Asked({1}, {10});
    options.weights = weights;
    const Result<SweepReport> report = ReportOn(Write(graph), options);
    EXPECT_TRUE(report.ok()) << report.error().message;
    return report.ok() ? Join(report->remarks, "\n") : "";
  };
  EXPECT_THAT(remarks({"own", "f16"}, text), HasSubstr("weights f16: matrices that "));
  EXPECT_THAT(remarks({"own", "f16"}, text), HasSubstr("stores in 8 bits and fewer stay as they are"));
  EXPECT_THAT(remarks({"own"}, text), Not(HasSubstr("stay as they are")));
  EXPECT_THAT(remarks({"own", "f32"}, kOfExperts), Not(HasSubstr("stay as they are")));
}

// A table of rotary embeddings that ends before the context: no step has the positions that it asks for.
TEST_F(Texts, ContextsBeyondATableOfPositionsAreSaidOfBothTimes) {
  const Result<SweepReport> report = ReportOn(Write(R"(
      g (int64[b, s] input_ids, int64[b, t] attention_mask, float16[b, 2, p, 64] past_key,
         float16[b, 2, p, 64] past_value)
        => (float16[b, s, 256] y, float16[b, 2, t, 64] present_key, float16[b, 2, t, 64] present_value)
        <int32[1] one = {1}, int64[1] axis = {1}, int64[1] first = {0}, int64[1] last = {2}, int64[2] of_table = {100, 256},
         int64[2] of_k = {256, 128}, int64[2] of_angles = {1024, 32}> {
        table = ConstantOfShape <value: tensor = float16[1] {1}> (of_table)
        wk = ConstantOfShape <value: tensor = float16[1] {1}> (of_k)
        angles = ConstantOfShape <value: tensor = float16[1] {1}> (of_angles)
        x = Gather (table, input_ids)
        k = MatMul (x, wk)
        sums = ReduceSum (attention_mask, axis)
        sums32 = Cast <to = 6> (sums)
        lengths = Sub (sums32, one)
        shape = Shape (attention_mask)
        total64 = Slice (shape, axis, last, first)
        total = Cast <to = 6> (total64)
        y, present_key, present_value = com.microsoft.GroupQueryAttention <num_heads = 4, kv_num_heads = 2, do_rotary = 1>
            (x, k, k, past_key, past_value, lengths, total, angles, angles)
      })",
                                                    21),
                                              Asked({1}, {512, 2048}));
  ASSERT_TRUE(report.ok()) << report.error().message;
  const Section table = TokensSection(*report);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_THAT(table.rows[0].back().text, Not(HasSubstr("without")));
  EXPECT_THAT(table.rows[1].back().text, ::testing::EndsWith("; without 1 layer"));
  // Why, once.
  EXPECT_THAT(Join(report->remarks, "\n"),
              HasSubstr("GroupQueryAttention: a table of 1024x32 has fewer rows than there are positions"));
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
  ProgressLog log = ProgressLog::ToStandardError(Loudness::kQuiet);
  const Result<SweepReport> report = MakeLlmReport(options, log);
  ASSERT_TRUE(report.ok()) << report.error().message;
  for (const SweepCell& cell : report->cells) {
    if (cell.fields.at("phase") != "decode") continue;
    ASSERT_TRUE(cell.facts.inputs && cell.facts.floor) << cell.reason;
    // A million positions of two heads, of which a part may lie in the caches.
    EXPECT_NEAR(static_cast<double>(cell.facts.inputs->value), 2.0 * 64 * 2 * ((1 << 20) - 1), 64);
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
  ProgressLog log = ProgressLog::ToStandardError(Loudness::kQuiet);
  const Result<SweepReport> report = MakeLlmReport(options, log);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->cells.size(), 1u);
  EXPECT_THAT(report->remarks, ::testing::Contains(::testing::ContainsRegex("left out: 1 of 2 prefill cells of .*"
                                                                            "fixed \\(batch 1\\)")));
  EXPECT_THAT(report->remarks, ::testing::Contains(HasSubstr("has no caches among its inputs")));
  // Pictures are no tokens, whatever the input is called.
  options.decode = Write("g (float[batch, 3, 8, 8] input) => (float[batch, 3, 8, 8] y) { y = Relu (input) }");
  EXPECT_THAT(MakeLlmReport(options, log).error().message, HasSubstr("no input takes tokens"));
}

// A prefill file of another model than the decoder's is told by its weights.
TEST_F(Texts, APairOfTwoModelsIsSaid) {
  const auto model = [&](int rows, const std::string& name) {
    const std::filesystem::path written = Write(fmt::format(R"(
      g (int64[1, tokens] input_ids, float[1, 2, past, 64] past_key)
        => (float[1, tokens, 64] y, float[1, 2, past, 64] present_key) <int64[2] of_table = {{{}, 64}}> {{
        table = ConstantOfShape <value: tensor = float[1] {{1}}> (of_table)
        y = Gather (table, input_ids)
        present_key = Relu (past_key)
      }})",
                                                            rows));
    std::filesystem::rename(written, folder_->path() / name);
    return folder_->path() / name;
  };
  LlmOptions options;
  options.prefill = model(100, "prefill.onnx");
  options.decode = model(200, "decode.onnx");
  options.batches = {1};
  options.contexts = {10};
  options.sweep.devices = {"h100-sxm"};
  options.sweep.database = (folder_->path() / "none.db").string();
  ProgressLog log = ProgressLog::ToStandardError(Loudness::kQuiet);
  const Result<SweepReport> two = MakeLlmReport(options, log);
  ASSERT_TRUE(two.ok()) << two.error().message;
  EXPECT_THAT(two->remarks, ::testing::Contains(HasSubstr("they may be of two models")));
  options.prefill = model(190, "prefill.onnx");
  EXPECT_THAT(MakeLlmReport(options, log)->remarks, Not(::testing::Contains(HasSubstr("of two models"))));
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
  ProgressLog log = ProgressLog::ToStandardError(Loudness::kQuiet);
  const Result<SweepReport> report = MakeLlmReport(options, log);
  ASSERT_TRUE(report.ok()) << report.error().message;
  ASSERT_EQ(report->cells.size(), 1u);
  EXPECT_EQ(report->cells.front().fields.at("context"), "4096");
  EXPECT_THAT(report->remarks, ::testing::Contains(HasSubstr("are buffers of 4096 positions")));
  EXPECT_THAT(report->remarks, Not(::testing::Contains(HasSubstr("less than a byte"))));
}

// Where the graph does not show that a cache is read it is not claimed.
TEST_F(Texts, CachesThatAreNotCountedAreSaid) {
  const Result<SweepReport> report = ReportOn(Write(R"(
      g (int64[1, 1] input_ids, int64[1, 1, 1, 1] at, float16[1, 2, 4096, 64] past_key)
        => (float16[1, 2, 1, 4096] y, float16[1, 2, 4096, 64] present_key)
      <int64[2] of_table = {100, 128}, int64[4] split = {1, 2, 1, 64}, int64 begin = {0}, int64 end = {4096},
       int64 step = {1}, int64[4] column = {1, 1, 4096, 1}> {
        table = ConstantOfShape <value: tensor = float16[1] {1}> (of_table)
        x = Gather (table, input_ids)
        new = Reshape (x, split)
        range = Range (begin, end, step)
        places = Reshape (range, column)
        here = Equal (places, at)
        present_key = Where (here, new, past_key)
        kt = Transpose <perm = [0, 1, 3, 2]> (present_key)
        y = MatMul (new, kt)
      })"),
                                              Asked({1}, {100}));
  ASSERT_TRUE(report.ok()) << report.error().message;
  const std::string remarks = Join(report->remarks, "\n");
  EXPECT_THAT(remarks, Not(HasSubstr("counts them all")));
  EXPECT_THAT(remarks, HasSubstr("caches of 1 cell count less than a byte a position"));
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
  ProgressLog log = ProgressLog::ToStandardError(Loudness::kQuiet);
  const Result<SweepReport> report = MakeLlmReport(options, log);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_THAT(TokensText(*report, 0), HasSubstr("counted at its least, which any run has: kept.elements;"));
  EXPECT_THAT(TokensText(*report, 0), HasSubstr("leave out layers that are not known, the first that of "));
  options.dims = {{"kept.elements", 1}};
  const Result<SweepReport> stated = MakeLlmReport(options, log);
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
                              {"context", std::to_string(context)}});
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
  ProgressLog log = ProgressLog::ToStandardError(Loudness::kQuiet);
  const Result<SweepReport> report = MakeLlmReport(options, log);
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
  const std::vector<Published> rates = {{"NVIDIA L40S", 43.42, large, 512},
                                        {"NVIDIA H100 PCIe", 67.79, large, 512},
                                        {"NVIDIA GeForce RTX 3090", 46.51, large, 512},
                                        {"NVIDIA GeForce RTX 4090", 54.34, large, 512},
                                        {"H100 SXM", 0.78 * 3352e9 / (2 * 1235814400.0), small, 97}};
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
