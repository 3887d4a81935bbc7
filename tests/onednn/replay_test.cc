// A replay of a small network against plain loops: a value that two steps read, a residual, a concatenation, a slice
// and a normalisation with an epsilon of its own, on whatever layouts the candidates of its convolutions like.
//
//   a = relu(conv 3x3(x));  b = conv 1x1(a) + a;  c = concat(b, x);  d = c[:, 8:24];  y = layer_norm(d)
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

#include "microbench/onednn/memory_order.h"
#include "microbench/onednn/onednn_backend.h"
#include "microbench/onednn/step_offer.h"
#include "microbench/reference/random_fill.h"

namespace infimum {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr int kChannels = 16, kSide = 6, kPixels = kSide * kSide;
constexpr double kEpsilon = 0.25;  // large enough to matter
constexpr char kFirst[] =
    "convolution dtype=f32:f32:f32 in=1x16x6x6 out_channels=16 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 groups=1 "
    "bias=yes weights=const";
constexpr char kSecond[] =
    "convolution dtype=f32:f32:f32 in=1x16x6x6 out_channels=16 kernel=1x1 stride=1x1 dilation=1x1 pad=0,0,0,0 groups=1 "
    "bias=no weights=const";

using Numbers = std::vector<float>;

Numbers Random(std::size_t count, std::uint64_t seed) {
  Numbers numbers;
  for (std::size_t i = 0; i < count; ++i) {
    numbers.push_back(static_cast<float>(static_cast<double>(cpu::HashOf(seed, i) >> 11) * 0x1p-53 - 0.5));
  }
  return numbers;
}

// The network in double precision, row-major throughout.
Numbers Expected(const std::map<std::string, Numbers>& given) {
  const Numbers &x = given.at("x"), &w1 = given.at("w1"), &b1 = given.at("b1"), &w2 = given.at("w2");
  std::vector<double> a(kChannels * kPixels), c(2 * kChannels * kPixels);
  for (int o = 0; o < kChannels; ++o) {
    for (int row = 0; row < kSide; ++row) {
      for (int column = 0; column < kSide; ++column) {
        double sum = b1[o];
        for (int i = 0; i < kChannels; ++i) {
          for (int tap = 0; tap < 9; ++tap) {
            const int r = row + tap / 3 - 1, k = column + tap % 3 - 1;
            if (r < 0 || r >= kSide || k < 0 || k >= kSide) continue;
            sum += static_cast<double>(x[i * kPixels + r * kSide + k]) * w1[(o * kChannels + i) * 9 + tap];
          }
        }
        a[o * kPixels + row * kSide + column] = std::max(sum, 0.0);
      }
    }
  }
  for (int o = 0; o < kChannels; ++o) {
    for (int p = 0; p < kPixels; ++p) {
      double sum = a[o * kPixels + p];
      for (int i = 0; i < kChannels; ++i) sum += a[i * kPixels + p] * w2[o * kChannels + i];
      c[o * kPixels + p] = sum;
      c[(kChannels + o) * kPixels + p] = x[o * kPixels + p];
    }
  }
  Numbers y(kChannels * kPixels);
  for (int row = 0; row < kChannels; ++row) {
    const double* d = &c[(row + 8) * kPixels];
    double mean = 0, variance = 0;
    for (int p = 0; p < kPixels; ++p) mean += d[p] / kPixels;
    for (int p = 0; p < kPixels; ++p) variance += (d[p] - mean) * (d[p] - mean) / kPixels;
    for (int p = 0; p < kPixels; ++p) {
      y[row * kPixels + p] = static_cast<float>((d[p] - mean) / std::sqrt(variance + kEpsilon));
    }
  }
  return y;
}

ReplayStep Step(const std::string& name, const std::string& workload, const std::string& candidate,
                std::vector<std::size_t> operands, std::vector<std::size_t> outputs, ReplayValues values = {}) {
  Result<Workload> parsed = ParseWorkload(workload);
  EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message);
  return {name, {name}, *parsed, candidate, std::move(operands), std::move(outputs), {std::move(values)}};
}

ReplaySchedule Network(const std::string& first = "", const std::string& second = "") {
  using Kind = ReplayTensorKind;
  const auto tensor = [](const char* name, Kind kind, Shape shape, bool output = false) {
    return ReplayTensor{name, kind, DataType::kF32, std::move(shape), output};
  };
  const Shape whole{{1, kChannels, kSide, kSide}};
  ReplaySchedule schedule;
  schedule.model = "network";
  schedule.tensors = {tensor("x", Kind::kInput, whole),
                      tensor("w1", Kind::kWeight, Shape{{16, 16, 3, 3}}),
                      tensor("b1", Kind::kWeight, Shape{{16}}),
                      tensor("w2", Kind::kWeight, Shape{{16, 16, 1, 1}}),
                      tensor("conv1", Kind::kIntermediate, whole),
                      tensor("a", Kind::kIntermediate, whole),
                      tensor("conv2", Kind::kIntermediate, whole),
                      tensor("b", Kind::kIntermediate, whole),
                      tensor("c", Kind::kIntermediate, Shape{{1, 32, kSide, kSide}}),
                      tensor("d", Kind::kIntermediate, whole),
                      tensor("y", Kind::kIntermediate, Shape{{16, 36}}, true)};
  schedule.steps = {
      Step("conv1", kFirst, first, {0, 1, 2}, {4}),
      Step("relu", "pointwise kind=relu dtype=f32:-:f32 in=576", "", {4}, {5}),
      Step("conv2", kSecond, second, {5, 3}, {6}),
      Step("residual", "pointwise kind=add dtype=f32:f32:f32 in=576,576", "", {6, 5}, {7}),
      Step("concat", "movement kind=concat dtype=f32:-:f32 in=16x36,16x36 out=32x36 axis=0", "", {7, 0}, {8}),
      Step("cut", "movement kind=slice dtype=f32:-:f32 in=32x36 out=16x36", "", {8}, {9}, {{"starts", {8, 0}}}),
      Step("norm", "normalization kind=layer dtype=f32:-:f32 in=16x36 axis=1 scale=no bias=no", "", {9}, {10},
           {{"epsilon", {kEpsilon}}})};
  return schedule;
}

class Replay : public ::testing::Test {
 protected:
  Replay() {
    std::string pattern = (fs::temp_directory_path() / "infimum-replay-XXXXXX").string();
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    given_ = {{"x", Random(576, 1)}, {"w1", Random(16 * 16 * 9, 2)}, {"b1", Random(16, 3)}, {"w2", Random(256, 4)}};
    given_["y"] = Expected(given_);
    WriteTensors();
  }
  ~Replay() override { fs::remove_all(folder_); }

  void WriteTensors() const {
    std::string index;
    for (const auto& [name, numbers] : given_) {
      std::ofstream file(folder_ / (name + ".bin"), std::ios::binary);
      file.write(reinterpret_cast<const char*>(numbers.data()),
                 static_cast<std::streamsize>(numbers.size() * sizeof(float)));
      index += (index.empty() ? "" : ",") + std::string(R"({"name":")") + name + R"(","dtype":"f32","shape":[)" +
               std::to_string(numbers.size()) + R"(],"file":")" + name + R"(.bin"})";
    }
    std::ofstream(folder_ / "index.json") << R"({"schema":"infimum.tensors/1","tensors":[)" << index << "]}";
  }

  Result<std::unique_ptr<PreparedReplay>> Prepared(const ReplaySchedule& schedule) {
    INFIMUM_ASSIGN_OR_RETURN(const TensorFolder folder, TensorFolder::Open(folder_));
    return backend_.PrepareReplay(schedule, folder);
  }

  ReplayResult Checked(const ReplaySchedule& schedule) {
    Result<std::unique_ptr<PreparedReplay>> replay = Prepared(schedule);
    EXPECT_TRUE(replay.ok()) << (replay.ok() ? "" : replay.error().message);
    if (!replay.ok()) return {};
    Result<ReplayResult> result = (*replay)->Check();
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
    return result.ok() ? *result : ReplayResult();
  }

  std::vector<std::string> CandidatesOf(const char* text) {
    std::vector<std::string> names;
    const auto candidates =
        backend_.Candidates(*ParseWorkload(text), NumericContract::kStrictF32, CandidateTier::kEngine);
    EXPECT_TRUE(candidates.ok());
    for (const Candidate& candidate : *candidates) names.push_back(candidate.name());
    return names;
  }

  OneDnnBackend backend_{BackendOptions{}};
  std::map<std::string, Numbers> given_;
  fs::path folder_;
};

TEST_F(Replay, IsRightWithEveryPairOfCandidatesAndTheirLayouts) {
  std::size_t most_reorders = 0, least_reorders = 100;
  for (const std::string& first : CandidatesOf(kFirst)) {
    for (const std::string& second : CandidatesOf(kSecond)) {
      SCOPED_TRACE(first + " then " + second);
      const ReplayResult result = Checked(Network(first, second));
      EXPECT_EQ(result.FirstFault().value_or(""), "");
      std::size_t reorders = 0;
      for (const ReplayPart& part : result.parts) reorders += part.is_reorder ? 1 : 0;
      EXPECT_EQ(result.parts.size(), 7 + reorders);
      EXPECT_THAT(result.parts[reorders > 0 && result.parts[0].is_reorder ? 1 : 0].candidate, first);
      most_reorders = std::max(most_reorders, reorders);
      least_reorders = std::min(least_reorders, reorders);
    }
  }
  // Where both like the same layout nothing lies between them; somewhere they do not.
  EXPECT_LT(least_reorders, most_reorders);
}

TEST_F(Replay, IsRightWhereARegionRunsAsAPartitionOfOneDnnGraph) {
  const std::string first =
      std::string("region [") + kFirst + "](in0,w0,w1) ; [pointwise kind=relu dtype=f32:-:f32 " + "in=576](%0)";
  for (const char* candidate : {"onednn/graph/partition", "onednn/graph/partition/nhwc"}) {
    for (const char* second : {"onednn/jit:avx2/nhwc", "onednn/jit:avx2/nchw", ""}) {
      SCOPED_TRACE(std::string(candidate) + " then " + second);
      ReplaySchedule schedule = Network("", second);
      // In place of the relu; what conv1 wrote is then read by nobody.
      schedule.steps[1] = Step("conv1 + relu", first, candidate, {0, 1, 2}, {5});
      schedule.steps[1].values.resize(2);
      const ReplayResult result = Checked(schedule);
      EXPECT_EQ(result.FirstFault().value_or(""), "");
      const auto runs = [&](const ReplayPart& part) { return !part.is_reorder && part.candidate == candidate; };
      EXPECT_EQ(std::count_if(result.parts.begin(), result.parts.end(), runs), 1);
    }
  }
}

TEST_F(Replay, RunsAgainWithTheSameResult) {
  Result<std::unique_ptr<PreparedReplay>> replay = Prepared(Network());
  ASSERT_TRUE(replay.ok()) << replay.error().message;
  for (int inference = 0; inference < 3; ++inference) {
    for (std::size_t part = 0; part < (*replay)->parts().size(); ++part) {
      // Each part twice: none may overwrite what it reads.
      ASSERT_TRUE((*replay)->Run(part).ok());
      ASSERT_TRUE((*replay)->Run(part).ok());
    }
  }
  const Result<ReplayResult> result = (*replay)->Check();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->FirstFault().value_or(""), "");
  EXPECT_GT((*replay)->weights().value, 16 * 16 * 9 * 4);
  // All intermediates at once would need more.
  EXPECT_LT((*replay)->arena().value, 9 * 4096 + 4096);
}

TEST_F(Replay, NoticesAWrongEpsilon) {
  ReplaySchedule schedule = Network();
  schedule.steps[6].values[0]["epsilon"] = {1e-5};
  EXPECT_THAT(Checked(schedule).FirstFault().value_or(""), HasSubstr("output 'y'"));
}

TEST_F(Replay, NoticesAWrongStart) {
  ReplaySchedule schedule = Network();
  schedule.steps[5].values[0]["starts"] = {7, 0};
  EXPECT_THAT(Checked(schedule).FirstFault().value_or(""), HasSubstr("output 'y'"));
}

TEST_F(Replay, NoticesSwappedOperands) {
  ReplaySchedule schedule = Network();
  schedule.steps[4].operands = {0, 7};
  EXPECT_THAT(Checked(schedule).FirstFault().value_or(""), HasSubstr("output 'y'"));
}

TEST_F(Replay, NoticesOneCorruptedWeight) {
  given_["w1"][1000] += 0.25F;
  WriteTensors();
  EXPECT_THAT(Checked(Network()).FirstFault().value_or(""), HasSubstr("output 'y'"));
}

TEST_F(Replay, ACandidateThatNobodyKnowsIsReplacedByOneThatRuns) {
  const ReplayResult result = Checked(Network("onednn/quantum:annealed"));
  EXPECT_EQ(result.FirstFault().value_or(""), "");
  for (const ReplayPart& part : result.parts) EXPECT_THAT(part.candidate, ::testing::Not(HasSubstr("quantum")));
}

TEST_F(Replay, ALayerThatNoKernelRunsWithItsValuesIsRunByTheReference) {
  // Bounds that the kernels of ours have not compiled in, in a type that the library has not.
  ReplayStep step =
      Step("clip", "pointwise kind=clip dtype=f64:-:f64 in=4", "", {0}, {1}, {{"clip_low", {-1}}, {"clip_high", {1}}});
  const Result<cpu::StepOffer> offer = cpu::FindStepOffer(step);
  ASSERT_TRUE(offer.ok()) << offer.error().message;
  EXPECT_EQ(offer->candidate, "infimum/reference");
  Result<cpu::HostTensor> from = cpu::HostTensor::Make(Shape{{4}}, DataType::kF64);
  Result<cpu::HostTensor> to = cpu::HostTensor::Make(Shape{{4}}, DataType::kF64);
  ASSERT_TRUE(from.ok() && to.ok());
  for (std::int64_t i = 0; i < 4; ++i) from->Set(i, static_cast<double>(i) * 1.5 - 2);
  const auto program = offer->make({&*from}, {&*to});
  ASSERT_TRUE(program.ok());
  ASSERT_TRUE((*program)->Run().ok());
  EXPECT_EQ(to->Get(0), -1);
  EXPECT_EQ(to->Get(1), -0.5);
  EXPECT_EQ(to->Get(3), 1);
}

TEST_F(Replay, ValuesThatAreUnknownOrLeadOutsideAreRefused) {
  for (const ReplayValues& values :
       {ReplayValues{{"colour", {1}}}, ReplayValues{{"epsilon", {1, 2}}}, ReplayValues{{"starts", {8, 0}}}}) {
    ReplaySchedule schedule = Network();
    schedule.steps[6].values[0] = values;
    EXPECT_FALSE(Prepared(schedule).ok());
  }
  ReplaySchedule schedule = Network();
  schedule.steps[5].values[0]["starts"] = {17, 0};
  const auto replay = Prepared(schedule);
  ASSERT_FALSE(replay.ok());
  EXPECT_THAT(replay.error().message, HasSubstr("leads out of"));
}

TEST_F(Replay, AMissingTensorIsNamed) {
  fs::remove(folder_ / "w2.bin");
  const auto replay = Prepared(Network());
  ASSERT_FALSE(replay.ok());
  EXPECT_THAT(replay.error().message, HasSubstr("w2.bin"));
}

TEST(MemoryOrder, IsTheSameInWhateverShapeATensorIsSeen) {
  using cpu::ChannelsLastDesc, cpu::MemoryOrder, cpu::PlainDesc;
  const Shape image{{1, 64, 7, 7}};
  const MemoryOrder last(PlainDesc(image, DataType::kF32), ChannelsLastDesc(image, DataType::kF32));
  // 49 rows of 64, of which row-major memory holds the transpose.
  const dnnl::memory::desc rows({49, 64}, dnnl::memory::data_type::f32, dnnl::memory::dims{1, 49});
  const MemoryOrder product(rows, PlainDesc(Shape{{49, 64}}, DataType::kF32));
  EXPECT_TRUE(last == product);
  EXPECT_FALSE(last.row_major());
  EXPECT_TRUE(MemoryOrder(PlainDesc(image, DataType::kF32), PlainDesc(image, DataType::kF32)).row_major());
  // One pixel: the channels are last and first.
  const Shape pixel{{1, 64, 1, 1}};
  EXPECT_TRUE(MemoryOrder(PlainDesc(pixel, DataType::kF32), ChannelsLastDesc(pixel, DataType::kF32)).row_major());
  const dnnl::memory::desc blocked(image.dims, dnnl::memory::data_type::f32, dnnl::memory::format_tag::nChw16c);
  EXPECT_FALSE(last == MemoryOrder(PlainDesc(image, DataType::kF32), blocked));
  const Shape odd{{1, 60, 7, 7}};
  const dnnl::memory::desc padded(odd.dims, dnnl::memory::data_type::f32, dnnl::memory::format_tag::nChw16c);
  EXPECT_FALSE(MemoryOrder(PlainDesc(odd, DataType::kF32), padded).dense());
}

}  // namespace
}  // namespace infimum
