#include "src/readers/benchmarks/scope_benchmarks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "infimum/db/store.h"
#include "infimum/results/results_journal.h"

namespace infimum::scope_benchmarks_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const std::string kSystem =
    R"("compute_capability:7.5":3.8e18,"cublas_version:10.1":9.6e17,"cuda_driver_version:10.10":3.1e18,)"
    R"("cuda_runtime_version:10.20":3.1e18,"cudnn_version:7.6.3":1.5e19,"gpu_name:Tesla T4":1.3e19,)"
    R"("host_name:secret-host":8.7e17,"benchmark_file:/home/someone/x.cpp":7.2e18)";

std::string Relu(int channels, const std::string& id = "1", const std::string& mode = "RELU") {
  return R"({"name":"LAYER_CUDNN_ACTIVATION_FWD_FLOAT32__BatchSize_1__)" + id + "<CUDNN_ACTIVATION_" + mode +
         ">/input[0]:1/input[1]:" + std::to_string(channels) + R"(/input[2]:7/input[3]:-1/batch_size:1/manual_time",)";
}
std::string Ran(double nanoseconds, const std::string& more = "") {
  std::ostringstream time;
  time << nanoseconds;
  return R"("iterations":100,"real_time":)" + time.str() + R"(,"cpu_time":1e9,"time_unit":"ns",)" + more + kSystem +
         "}";
}
std::string Failed(const std::string& message) {
  return R"("error_occurred":true,"error_message":")" + message +
         R"(","iterations":1,"real_time":0.0,"cpu_time":0.0,"time_unit":"ns"})";
}
std::string Convolution(const std::string& algorithm) {
  return R"({"name":"LAYER_CUDNN_CONV_FWD_3_FLOAT32__BatchSize_1__9<CUDNN_CONVOLUTION_FWD_ALGO_)" + algorithm +
         R"(>/input[0]:1/input[1]:8/input[2]:7/input[3]:7/filter_count:4/filter_height:1/filter_width:1/pad_height:0/)"
         R"(pad_width:0/stride_height:1/stride_width:1/dilation_height:1/dilation_width:1/group:1/manual_time",)";
}

std::string File(const std::vector<std::string>& entries, const std::string& date = "2019-10-06 14:50:20") {
  std::string text = "{\"context\":{\"date\":\"" + date +
                     R"(","executable":"./bin/my_bench","num_cpus":8,"mhz_per_cpu":3601,"caches":[{"type":"Data",)"
                     R"("level":1,"size":32768,"num_sharing":1},{"type":"Instruction","level":1,"size":65536}]},)"
                     "\n\"benchmarks\":[";
  for (std::size_t i = 0; i < entries.size(); ++i) text += (i > 0 ? ",\n" : "\n") + entries[i];
  return text + "]}\n";
}

struct Taken {
  std::vector<Measurement> rows;
  std::optional<Device> device;
  Environment environment;
  std::vector<std::string> remarks;
};

Status Read(const std::string& text, Taken& taken) {
  ResultsTaker taker;
  taker.rows = [&](const Device& device, const Environment& environment, std::span<const Measurement> rows,
                   std::span<const PeakRate> peaks) {
    EXPECT_TRUE(peaks.empty());
    EXPECT_LE(rows.size(), kRowsOfABatch);
    taken.rows.insert(taken.rows.end(), rows.begin(), rows.end());
    taken.device = device;
    taken.environment = environment;
    return Status();
  };
  taker.run = [](const RunProfile&) -> Status { return Error{"not a run"}; };
  taker.remark = [&](const std::string& remark) { taken.remarks.push_back(remark); };
  std::istringstream input(text);
  return ReadResults(input, "128.json", taker);
}

Taken Read(const std::string& text) {
  Taken taken;
  const Status status = Read(text, taken);
  EXPECT_TRUE(status.ok()) << status.error().message;
  return taken;
}

std::string ErrorOf(const std::string& text) {
  Taken taken;
  const Status status = Read(text, taken);
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(taken.rows, IsEmpty()) << "an error, but rows were handed on";
  return status.ok() ? "" : status.error().message;
}

TEST(ScopeBenchmarks, AnEntryThatRanIsARowWithOneRepetition) {
  const Taken taken = Read(File({Relu(64) + Ran(8420.5, R"("x_tensor_layout":1.0,)")}));
  ASSERT_THAT(taken.rows, SizeIs(1));
  const Measurement& row = taken.rows[0];
  EXPECT_EQ(row.workload.text, "pointwise kind=relu dtype=f32:-:f32 in=448");
  EXPECT_EQ(row.candidate.name(), "cudnn-legacy/activation/relu");
  EXPECT_EQ(row.candidate.input_layout, "nhwc");
  EXPECT_EQ(row.candidate.output_layout, "nhwc");
  EXPECT_EQ(row.contract, NumericContract::kStrictF32);
  EXPECT_EQ(row.outcome, Outcome::kMeasured);
  EXPECT_EQ(row.measured_at, "2019-10-06T14:50:20Z");
  EXPECT_THAT(row.flags, ElementsAre("mean-of-iterations"));
  ASSERT_THAT(row.repetitions, SizeIs(1));
  EXPECT_EQ(row.repetitions[0].count, 100);
  EXPECT_DOUBLE_EQ(row.repetitions[0].minimum.count(), 8.4205);
  EXPECT_EQ(row.repetitions[0].median, row.repetitions[0].p95);
  EXPECT_THAT(row.repetitions[0].samples, IsEmpty());
  EXPECT_THAT(taken.remarks, IsEmpty());
}

TEST(ScopeBenchmarks, KeysNameTheSystemAndNoHostIsKept) {
  const Taken taken = Read(File({Relu(64) + Ran(8420.5)}));
  ASSERT_TRUE(taken.device.has_value());
  EXPECT_EQ(taken.device->kind, DeviceKind::kGpu);
  EXPECT_EQ(taken.device->name, "Tesla T4");
  EXPECT_EQ(taken.device->generation, "Turing");
  EXPECT_EQ(taken.device->Key().text, "gpu/NVIDIA/compute_capability=7.5/name=Tesla%20T4");
  const std::map<std::string, std::string> libraries = {
      {"cublas", "10.1"}, {"cuda_driver", "10.2"}, {"cuda_runtime", "10.1"}, {"cudnn", "7.6.3"}};
  EXPECT_EQ(taken.environment.libraries, libraries);
  EXPECT_EQ(taken.rows[0].device, taken.device->Key());
  EXPECT_EQ(taken.rows[0].environment, taken.environment.Key());
  EXPECT_THAT(taken.environment.Key().text, Not(HasSubstr("secret")));
}

TEST(ScopeBenchmarks, FailedEntriesTakeDeviceAndLayoutOfTheOthers) {
  const Taken taken = Read(File({Convolution("FFT") + Failed("failed because of CUDNN_STATUS_NOT_SUPPORTED"),
                                 Convolution("GEMM") + Failed("an illegal\\taccess"),
                                 Convolution("DIRECT") + Ran(5, R"("x_tensor_layout":1.0,"y_tensor_layout":0.0,)")}));
  ASSERT_THAT(taken.rows, SizeIs(3));
  EXPECT_EQ(taken.rows[0].outcome, Outcome::kUnsupported);
  EXPECT_EQ(taken.rows[0].reason, "failed because of CUDNN_STATUS_NOT_SUPPORTED");
  EXPECT_EQ(taken.rows[1].outcome, Outcome::kFailed);
  EXPECT_EQ(taken.rows[1].reason, "an illegal access");
  for (const Measurement& row : taken.rows) {
    EXPECT_EQ(row.candidate.input_layout, "nhwc") << row.candidate.name();
    EXPECT_EQ(row.candidate.output_layout, "nchw") << row.candidate.name();
    EXPECT_EQ(row.device, taken.device->Key());
  }
}

TEST(ScopeBenchmarks, TheAdvisedAlgorithmIsTheLibrarysChoice) {
  const Taken taken = Read(
      File({Convolution("GEMM") + Ran(5, R"("convolution_algorithm":2.0,"advised_convolution_algorithm":6.0,)"),
            Convolution("WINOGRAD") + Ran(4, R"("convolution_algorithm":6.0,"advised_convolution_algorithm":6.0,)")}));
  ASSERT_THAT(taken.rows, SizeIs(2));
  EXPECT_FALSE(taken.rows[0].candidate.library_choice);
  EXPECT_TRUE(taken.rows[1].candidate.library_choice);
}

TEST(ScopeBenchmarks, EqualLayersAreRepetitionsAndAMeasurementHidesAFailure) {
  const Taken taken = Read(
      File({Relu(64, "1") + Failed("out of memory"), Relu(64, "2") + Ran(9), Relu(64, "3", "CLIPPED_RELU") + Ran(7),
            Relu(64, "4") + Ran(8), Relu(64, "5") + Failed("out of memory")}));
  ASSERT_THAT(taken.rows, SizeIs(2));
  ASSERT_THAT(taken.rows[0].repetitions, SizeIs(2));
  EXPECT_DOUBLE_EQ(BestSeen(taken.rows[0].repetitions).count(), 0.008);
  EXPECT_EQ(taken.rows[1].candidate.algorithm, "activation/clipped_relu");
}

TEST(ScopeBenchmarks, ABiasThatOverwroteItsTensorWasWrittenOutNotAdded) {
  const std::string name =
      R"({"name":"LAYER_CUDNN_ADD_TENSOR_FLOAT32__BatchSize_1__1/input[0]:1/input[1]:8/input[2]:7/input[3]:7/)"
      R"(bias[0]:1/bias[1]:8/bias[2]:1/bias[3]:1/manual_time",)";
  EXPECT_EQ(Read(File({name + Ran(5, R"("beta":0.0,)")})).rows[0].workload.text,
            "movement kind=expand dtype=f32:-:f32 in=8x1 out=8x49");
  EXPECT_EQ(Read(File({name + Ran(5, R"("beta":1.0,)")})).rows[0].workload.text,
            "pointwise kind=add dtype=f32:f32:f32 in=8x49,8x1");
}

TEST(ScopeBenchmarks, EntriesLeftOutAreCountedByApi) {
  const std::string dropout =
      R"({"name":"LAYER_CUDNN_DROPOUT_FWD_FLOAT32__BatchSize_1__1/input[0]:1/input[1]:8/manual_time",)";
  const Taken taken = Read(File({dropout + Ran(5), Relu(64) + Ran(9), dropout + Failed("x"), Relu(0) + Failed("x"),
                                 R"({"name":"BM_other",)" + Ran(1)}));
  EXPECT_THAT(taken.rows, SizeIs(1));
  EXPECT_THAT(taken.remarks,
              ElementsAre(AllOf(HasSubstr("128.json: 1 entry left out"), HasSubstr("neither its label nor its name")),
                          HasSubstr("1 entry of CUDNN_ACTIVATION_FWD left out: no layer has these arguments"),
                          HasSubstr("2 entries of CUDNN_DROPOUT_FWD left out: it draws random numbers")));
}

TEST(ScopeBenchmarks, TheUnitOfTimeCounts) {
  const auto time = [](const std::string& unit) {
    std::string text = File({Relu(64) + Ran(3)});
    text.replace(text.find("\"ns\""), 4, "\"" + unit + "\"");
    return Read(text).rows[0].repetitions[0].median.count();
  };
  EXPECT_DOUBLE_EQ(time("us"), 3);
  EXPECT_DOUBLE_EQ(time("ms"), 3e3);
  EXPECT_DOUBLE_EQ(time("s"), 3e6);
}

TEST(ScopeBenchmarks, DatesBecomeUtc) {
  EXPECT_EQ(Read(File({Relu(64) + Ran(3)}, "2024-03-01T00:30:00+02:00")).rows[0].measured_at, "2024-02-29T22:30:00Z");
  EXPECT_EQ(Read(File({Relu(64) + Ran(3)}, "2024-12-31T23:30:59-01:00")).rows[0].measured_at, "2025-01-01T00:30:59Z");
  for (const char* const date : {"", "today", "2024-13-01 00:00:00", "2024-02-30 00:00:00", "2024-01-01 00:00:00+1"})
    EXPECT_THAT(ErrorOf(File({Relu(64) + Ran(3)}, date)), HasSubstr("128.json: context.date")) << date;
}

TEST(ScopeBenchmarks, ErrorsNameLineAndEntry) {
  EXPECT_THAT(ErrorOf(File({Relu(64) + Ran(3), R"({"name":"LAYER_X",)" + Ran(1)})),
              AllOf(HasSubstr("128.json:4: benchmarks[1] 'LAYER_X': column 7: expected")));
  EXPECT_THAT(ErrorOf(File({Relu(64) + Ran(0)})), HasSubstr("'real_time' is 0 ns, expected a positive time"));
  EXPECT_THAT(ErrorOf(File({Relu(64) + Ran(3, R"("x_tensor_layout":7,)")})), HasSubstr("'x_tensor_layout' is 7"));
  EXPECT_THAT(ErrorOf(File({Relu(64) + R"("real_time":"3"})"})), HasSubstr("128.json:3:"));
  EXPECT_THAT(ErrorOf(File({Relu(64) + R"("real_time":"3"})"})), HasSubstr("'real_time' is a text"));
  EXPECT_THAT(ErrorOf(File({"7"})), HasSubstr("benchmarks[0] is not an object"));
  std::string other = Relu(32) + Ran(3);
  other.replace(other.find("Tesla T4"), 8, "Tesla K80");
  EXPECT_THAT(ErrorOf(File({Relu(64) + Ran(3), other})),
              AllOf(HasSubstr("benchmarks[1]"), HasSubstr("'gpu_name' is 'Tesla K80', but 'Tesla T4'")));
}

TEST(ScopeBenchmarks, WithoutAnEntryThatRanTheDeviceIsUnknown) {
  EXPECT_THAT(ErrorOf(File({Relu(64) + Failed("x")})),
              AllOf(HasSubstr("the device is unknown"), HasSubstr("the first reports: x")));
}

TEST(ScopeBenchmarks, InvalidJsonIsAnErrorWithPlaceAndCauseAndHandsOnNothing) {
  const std::string good = File({Relu(64) + Ran(3), Relu(32) + Ran(4)});
  EXPECT_THAT(ErrorOf(good.substr(0, good.size() - 40)), AllOf(HasSubstr("128.json:4:"), HasSubstr("cut off?")));
  std::string control = good;
  control.insert(control.find("\"name\""), 1, '\x01');
  EXPECT_THAT(ErrorOf(control), HasSubstr("128.json:3:2: not valid JSON"));
  EXPECT_THAT(ErrorOf(good + "x"), HasSubstr("128.json:5:1: not valid JSON"));
  std::string deep = R"({"context":{},"benchmarks":[{"x":)" + std::string(100'000, '[');
  EXPECT_THAT(ErrorOf(deep), HasSubstr("nested more than 64 deep"));
  EXPECT_THAT(ErrorOf(R"({"benchmarks":[{"name":")" + std::string(3 << 20, 'x') + "\"}]}"),
              HasSubstr("a text of more than 1048576 bytes"));
  EXPECT_THAT(ErrorOf("[\"benchmarks\"]"), HasSubstr("not a list"));
  EXPECT_THAT(ErrorOf("{\"context\":{}}"), HasSubstr("128.json: has no list 'benchmarks'"));
}

// As scope wrote the messages of others, which end in a newline.
TEST(ScopeBenchmarks, ControlCharactersInTextsAreSpacesAndCounted) {
  const std::string text = File(
      {Relu(64) + Ran(3), Relu(32) + Failed("went\nwrong\t\x01"), Relu(16) + Failed("a \\\"\nb"), Relu(8) + Ran(4)});
  const Taken taken = Read(text);
  ASSERT_THAT(taken.rows, SizeIs(4));
  EXPECT_EQ(taken.rows[1].reason, "went wrong");
  EXPECT_EQ(taken.rows[2].reason, "a \" b");
  const std::string line = text.substr(0, text.find("\nwrong"));
  const std::string column = std::to_string(line.size() - line.rfind('\n'));
  EXPECT_THAT(taken.remarks, ElementsAre("128.json:4:" + column +
                                         ": the first of 4 control characters in texts, which JSON forbids, "
                                         "read as spaces"));
  EXPECT_THAT(Read(File({Relu(64) + Ran(3), Relu(32) + Failed("x\n")})).remarks,
              ElementsAre(HasSubstr(": a control character in texts, which JSON forbids, read as a space")));
  // Escaped ones are as JSON wants them.
  EXPECT_THAT(Read(File({Relu(64) + Ran(3), Relu(32) + Failed("x\\n\\u0001")})).remarks, IsEmpty());
}

TEST(ScopeBenchmarks, LinesAreCountedThroughNewlinesInTexts) {
  EXPECT_THAT(ErrorOf(File({Relu(64) + Failed("a\nb\nc"), Relu(32) + "]"})), HasSubstr("128.json:6:"));
  // A backslash before one escapes nothing.
  EXPECT_THAT(ErrorOf(File({Relu(64) + Failed("a\\\nb")})), HasSubstr("not valid JSON"));
}

TEST(ScopeBenchmarks, EntriesTimedUnderAProfilerAreSkippedAndItsFailuresAreNotTheCandidates) {
  const std::string cupti = "Exception in CUDNN/ADD_TENSOR/cupti_profiler.hpp:283: CUPTI_ERROR_NOT_INITIALIZED.\n";
  const Taken taken =
      Read(File({Relu(64) + Ran(3, R"("cupti_enabled":1.0,)"), Relu(32) + Failed(cupti),
                 Relu(16) + Ran(5, R"("cupti_enabled":0.0,)"), Relu(8) + Failed("CUDNN_STATUS_NOT_SUPPORTED"),
                 Relu(64) + Ran(4, R"("cupti_enabled":1.0,)")}));
  ASSERT_THAT(taken.rows, SizeIs(4));
  EXPECT_EQ(taken.rows[0].outcome, Outcome::kSkipped);
  EXPECT_EQ(taken.rows[0].reason, "timed under a profiler (CUPTI)");
  EXPECT_THAT(taken.rows[0].repetitions, IsEmpty());
  EXPECT_EQ(taken.rows[1].outcome, Outcome::kSkipped);
  EXPECT_THAT(taken.rows[1].reason, AllOf(HasSubstr("the profiler (CUPTI) failed: "), HasSubstr("NOT_INITIALIZED.")));
  EXPECT_EQ(taken.rows[2].outcome, Outcome::kMeasured);
  EXPECT_EQ(taken.rows[3].outcome, Outcome::kUnsupported);
  EXPECT_THAT(taken.remarks, ::testing::Contains(HasSubstr("128.json: 3 entries were timed under a profiler")));
}

TEST(ScopeBenchmarks, AnyOtherOutcomeReplacesASkippedRow) {
  const std::string profiled = Relu(64) + Ran(3, R"("cupti_enabled":1.0,)");
  EXPECT_EQ(Read(File({profiled, Relu(64) + Failed("broken")})).rows.at(0).outcome, Outcome::kFailed);
  EXPECT_EQ(Read(File({Relu(64) + Failed("broken"), profiled})).rows.at(0).outcome, Outcome::kFailed);
  const Taken taken = Read(File({profiled, Relu(64) + Ran(9), profiled}));
  ASSERT_THAT(taken.rows, SizeIs(1));
  ASSERT_THAT(taken.rows[0].repetitions, SizeIs(1));
  EXPECT_DOUBLE_EQ(taken.rows[0].repetitions[0].median.count(), 0.009);
}

TEST(ScopeBenchmarks, ManyEntriesAreHandedOnInBatches) {
  std::vector<std::string> entries;
  for (int i = 1; i <= 1200; ++i) entries.push_back(Relu(i) + Ran(i));
  EXPECT_THAT(Read(File(entries)).rows, SizeIs(1200));
}

TEST(ScopeBenchmarks, AnErrorOfTheTakerEndsTheReading) {
  ResultsTaker taker;
  taker.rows = [](const auto&, const auto&, auto, auto) -> Status { return Error{"the disk is full"}; };
  std::istringstream input(File({Relu(64) + Ran(3)}));
  const Status status = ReadScopeBenchmarks(input, "128.json", taker);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "the disk is full");
}

TEST(ScopeBenchmarks, RowsSurviveStoreAndJournal) {
  const Taken taken = Read(File({Relu(64) + Ran(3), Relu(32) + Failed("x")}));
  std::string journal = FormatRecord(ResultsHeader{*taken.device, taken.environment, "scope"}) + "\n";
  for (const Measurement& row : taken.rows) journal += FormatRecord(row) + "\n";
  std::vector<Measurement> again;
  std::istringstream input(journal);
  const Status status = ReadJournal(input, "journal", [&](ResultsRecord record) {
    if (auto* row = std::get_if<Measurement>(&record)) again.push_back(std::move(*row));
    return Status();
  });
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(again, taken.rows);
  Result<std::unique_ptr<Store>> store = OpenStore(":memory:", OpenMode::kReadWrite);
  ASSERT_TRUE(store.ok());
  const Result<ImportCount> count = (*store)->Import(*taken.device, taken.environment, taken.rows, {});
  ASSERT_TRUE(count.ok()) << count.error().message;
  EXPECT_EQ(count->added, 2);
}

// --- other programs ---

std::string Other(const std::string& name, const std::string& more = "") {
  return R"({"name":")" + name + R"(","run_type":"iteration","repetitions":1,"threads":1,"iterations":10,)" + more +
         R"("real_time":2.5,"cpu_time":2.5,"time_unit":"us"})";
}
const std::string kRelu = "pointwise kind=relu dtype=f32:-:f32 in=64";

TEST(OtherBenchmarks, AWorkloadAsLabelOrNameIsARow) {
  const Taken taken = Read(
      File({Other("BM_relu/vectorised/real_time", R"("label":")" + kRelu + R"(",)"), Other(kRelu + "/plain/threads:1"),
            Other(kRelu), Other(kRelu + " avx2"), Other(kRelu + "/plain", R"("error_occurred":true,)")}));
  ASSERT_THAT(taken.rows, SizeIs(4));
  for (const Measurement& row : taken.rows) {
    EXPECT_EQ(row.workload.text, kRelu);
    EXPECT_EQ(row.candidate.library, "my_bench");
    EXPECT_EQ(row.outcome, Outcome::kMeasured);
    EXPECT_DOUBLE_EQ(row.repetitions[0].median.count(), 2.5);
  }
  EXPECT_EQ(taken.rows[0].candidate.algorithm, "BM_relu/vectorised");
  EXPECT_EQ(taken.rows[1].candidate.algorithm, "plain");
  EXPECT_EQ(taken.rows[2].candidate.algorithm, "default");
  EXPECT_EQ(taken.rows[3].candidate.algorithm, "avx2");
}

TEST(OtherBenchmarks, AggregatesAndThreadsAreLeftOut) {
  const Taken taken = Read(
      File({Other(kRelu), R"({"name":")" + kRelu + R"(_mean","run_type":"aggregate","real_time":1,"time_unit":"us"})",
            R"({"name":")" + kRelu + R"(/threads:4","threads":4,"iterations":1,"real_time":1,"time_unit":"us"})"}));
  EXPECT_THAT(taken.rows, SizeIs(1));
  EXPECT_THAT(taken.remarks, ::testing::Contains(HasSubstr("1 entry left out: aggregates")));
  EXPECT_THAT(taken.remarks, ::testing::Contains(HasSubstr("several threads")));
}

TEST(OtherBenchmarks, TheContextNamesTheProcessorOrItStaysUnnamed) {
  Taken taken = Read(File({Other(kRelu)}));
  EXPECT_EQ(taken.device->Key().text, "cpu/unknown/clock=3601MHz/l1=32768/cores=8");
  EXPECT_THAT(taken.remarks, ElementsAre(HasSubstr("AddCustomContext(\"infimum_device\", KEY)")));
  const std::string key = "cpu/AuthenticAMD/family=25/instructions=avx2,fma/cores=2/note=a%20b";
  std::string text = File({Other(kRelu)});
  text.insert(text.find("\"num_cpus\""), R"("infimum_device":")" + key + R"(",)");
  taken = Read(text);
  EXPECT_EQ(taken.device->Key().text, key);
  EXPECT_EQ(taken.device->identity.at("note"), "a b");
  EXPECT_THAT(taken.remarks, IsEmpty());
  text.replace(text.find("cpu/Auth"), 3, "tpu");
  EXPECT_THAT(ErrorOf(text), HasSubstr("context.infimum_device is 'tpu/"));
}

TEST(OtherBenchmarks, AFileWithoutWorkloadsIsAnErrorWithTheExpectedLabels) {
  EXPECT_THAT(ErrorOf(File({Other("BM_a"), Other("BM_b")})),
              AllOf(HasSubstr("128.json: contains no measured layer"), HasSubstr("label"),
                    HasSubstr("pointwise kind=relu"), HasSubstr("2 entries left out")));
  EXPECT_THAT(ErrorOf(File({})), HasSubstr("contains no measured layer"));
}

TEST(ScopeBenchmarks, NoDamagedTextCrashesTheReader) {
  const std::string good = File({Relu(64) + Ran(3), Convolution("GEMM") + Failed("x"), Other(kRelu + "/a")});
  std::mt19937_64 random(17);
  for (int attempt = 0; attempt < 3000; ++attempt) {
    std::string text = good;
    for (int i = 0; i < 4; ++i) text[random() % text.size()] = static_cast<char>(random());
    if (attempt % 5 == 0) text.resize(random() % text.size());
    Taken taken;
    static_cast<void>(Read(text, taken).ok());
  }
}

}  // namespace
}  // namespace infimum::scope_benchmarks_test
