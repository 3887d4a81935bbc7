#include "src/readers/formats.h"

#include <vector>

#include "infimum/base/text.h"
#include "src/readers/benchmarks/scope_benchmarks.h"
#include "src/readers/files/file_start.h"
#include "src/readers/profiles/chakra/chakra_trace.h"
#include "src/readers/profiles/kineto/kineto_trace.h"
#include "src/readers/profiles/nsys/nsys_export.h"
#include "src/readers/profiles/onnxruntime/onnxruntime_profile.h"
#include "src/readers/profiles/run_file.h"
#include "src/readers/profiles/tensorrt/tensorrt_engine.h"

namespace infimum {
namespace {

using ingest::FileStart;

// A reader of the table from one of a single kind of profile.
template <auto kRead>
Result<Profile> AsProfile(std::istream& input, std::string_view origin) {
  auto profile = kRead(input, origin);
  if (!profile.ok()) return profile.error();
  return Profile(*std::move(profile));
}

Result<Profile> NsysProfile(const std::filesystem::path& path) {
  INFIMUM_ASSIGN_OR_RETURN(Timeline timeline, ReadNsysExport(path));
  return Profile(std::move(timeline));
}

Status RunResults(std::istream& input, std::string_view origin, const ResultsTaker& taker) {
  INFIMUM_ASSIGN_OR_RETURN(const RunProfile run, ReadRun(input, origin));
  return taker.run(run);
}

constexpr FileFormat kUnknown{.name = "unknown"};
constexpr FileFormat kNsysExport{
    .name = "export of Nsight Systems",
    .made_by = "an export of Nsight Systems (nsys export --type sqlite)",
    .read_database = NsysProfile,
    .advice = "a SQLite database, perhaps an export of Nsight Systems: infimum compare --run shows its content"};
constexpr FileFormat kJournal{.name = "results journal", .read_results = ReadJournalResults};
constexpr FileFormat kTensorRtEngine{
    .name = "file of a TensorRT engine",
    .made_by = "the files that trtexec writes about an engine (--exportLayerInfo, --exportProfile, --exportTimes)",
    .is_part_of_engine = true,
    .advice =
        "a file of a TensorRT engine: infimum compare --run FILE --run FILE ... shows the files of an engine together"};
constexpr FileFormat kOnnxRuntimeProfile{.name = "profile of ONNX Runtime",
                                         .made_by = "a profile of ONNX Runtime (enable_profiling)",
                                         .read_profile = AsProfile<ReadOnnxRuntimeProfile>};
constexpr FileFormat kKinetoTrace{.name = "trace of PyTorch's profiler",
                                  .made_by = "a trace of PyTorch's profiler (export_chrome_trace)",
                                  .read_profile = AsProfile<ReadKinetoTrace>};
constexpr FileFormat kChakraTrace{
    .name = "Chakra trace", .made_by = "a Chakra trace as JSON", .read_profile = ReadChakraTrace};
constexpr FileFormat kRun{.name = "framework run",
                          .made_by = "a run that infimum measure -o wrote",
                          .read_profile = AsProfile<ReadRun>,
                          .read_results = RunResults};
constexpr FileFormat kGoogleBenchmark{.name = "Google Benchmark JSON", .read_results = ReadGoogleBenchmarkResults};
constexpr FileFormat kScopeBenchmarks{
    .name = "Google Benchmark JSON of another program", .read_results = ReadScopeBenchmarks, .is_campaign = true};
constexpr FileFormat kParaDnn{.name = "sweep of ParaDnn",
                              .advice =
                                  "a published sweep of ParaDnn: rates of whole models of a family, of which the "
                                  "store keeps none; infimum synth fc makes the models"};

// What has to be unpacked before it is read.
constexpr FileFormat kTar{.name = "archive of files",
                          .advice = "an archive of files: unpack it first (tar -xf FILE) and name the files in it"};
constexpr FileFormat kZip{.name = "archive of files",
                          .advice = "an archive of files: unpack it first (unzip FILE) and name the files in it"};
constexpr FileFormat kZstandard{.name = "compressed file",
                                .advice = "compressed by Zstandard: unpack it first (zstd -d FILE)"};
constexpr FileFormat kXz{.name = "compressed file", .advice = "compressed by xz: unpack it first (xz -d FILE)"};
constexpr FileFormat kBzip2{.name = "compressed file",
                            .advice = "compressed by bzip2: unpack it first (bzip2 -d FILE)"};
constexpr FileFormat kGzipTwice{.name = "compressed file",
                                .advice = "compressed by gzip twice: unpack it once (gunzip FILE)"};
constexpr FileFormat kEventLines{
    .name = "JSON lines",
    .advice = "JSON lines, one event a line: make one list of them first (jq -s . FILE > LIST.json)"};

template <std::size_t kAt, char... kBytes>
bool HasMagic(FileStart& start) {
  constexpr char kMagic[] = {kBytes...};
  return start.text().size() > kAt && start.text().substr(kAt).starts_with(std::string_view(kMagic, sizeof kMagic));
}

// Google Benchmark JSON has the schema too, perhaps on its only line.
bool IsJournal(FileStart& start) {
  const auto has = [line = start.first_line()](std::string_view part) { return line.find(part) != line.npos; };
  return has("\"infimum.results/") && !has("\"context\"") && !has("\"benchmarks\"");
}

bool IsTensorRt(FileStart& start) { return ingest::TensorRtKindOf(start.text()) != ingest::TensorRtKind::kNone; }

// Lists of events, in an object or bare.
bool IsTrace(FileStart& start) {
  return (start.text().starts_with('[') && start.Has("\"ph\"")) || start.Has("\"traceEvents\"") ||
         (start.Has("\"schemaVersion\"") && start.Has("\"deviceProperties\""));
}

bool IsLateTrace(FileStart& start) { return !start.LateEvents().empty(); }

// Keys may be in alphabetical order, and then "schema" is one of the last.
bool IsRun(FileStart& start) {
  constexpr std::string_view kSchema = "\"infimum.run/";
  return start.Has(kSchema) || start.End().find(kSchema) != std::string::npos;
}

// In either order of the keys.
bool IsGoogleBenchmark(FileStart& start) { return start.Has("\"benchmarks\"") || start.Has("\"context\""); }

bool IsParaDnn(FileStart& start) {
  return start.text().starts_with('{') && (start.Has("\"step_per_sec\"") || start.Has("\"flops_perc\"")) &&
         start.Has("\"labels\"");
}

// An event of a trace in each line, as databases export them.
bool IsEventLines(FileStart& start) {
  if (start.text().find('\n') == std::string_view::npos) return false;
  const std::string_view first = TrimSpace(start.first_line());
  const std::string_view rest = TrimSpace(start.text().substr(start.first_line().size()));
  return first.starts_with("{") && first.ends_with("}") && rest.starts_with("{") &&
         first.find("\"ph\"") != std::string_view::npos;
}

struct Row {
  const FileFormat& format;
  bool (*is)(FileStart& start);
};

// The first that fits. Those that look at more than the start of a file come late.
constexpr Row kRows[] = {
    {kUnknown, [](FileStart& start) { return ingest::IsSqlite(start.text()) && ingest::IsStoreOfOurs(start.text()); }},
    {kNsysExport, [](FileStart& start) { return ingest::IsSqlite(start.text()); }},
    {kTar, HasMagic<257, 'u', 's', 't', 'a', 'r'>},  // behind the first file's name
    {kZip, HasMagic<0, 'P', 'K', '\3', '\4'>},
    {kZstandard, HasMagic<0, '\x28', '\xb5', '\x2f', '\xfd'>},
    {kXz, HasMagic<0, '\xfd', '7', 'z', 'X', 'Z'>},
    {kBzip2, HasMagic<4, '1', 'A', 'Y', '&', 'S', 'Y'>},
    {kGzipTwice, HasMagic<0, '\x1f', '\x8b'>},
    {kJournal, IsJournal},
    {kTensorRtEngine, IsTensorRt},
    {kOnnxRuntimeProfile, [](FileStart& start) { return IsTrace(start) && IsOnnxRuntimeProfile(start.text()); }},
    {kKinetoTrace, IsTrace},
    {kChakraTrace, [](FileStart& start) { return IsChakraTrace(start.text()); }},
    {kRun, IsRun},
    {kGoogleBenchmark, [](FileStart& start) { return IsGoogleBenchmark(start) && start.Has("\"infimum\":"); }},
    {kScopeBenchmarks, IsGoogleBenchmark},
    {kParaDnn, IsParaDnn},
    {kEventLines, IsEventLines},
    {kOnnxRuntimeProfile,
     [](FileStart& start) { return IsLateTrace(start) && IsOnnxRuntimeProfile(start.LateEvents()); }},
    {kKinetoTrace, IsLateTrace},
    {kUnknown, [](FileStart&) { return true; }},
};

}  // namespace

const FileFormat& DetectFormat(std::istream& input) {
  const FileFormat* format = nullptr;
  {
    FileStart start(input);
    const Row* row = kRows;
    while (!row->is(start)) ++row;
    format = &row->format;
  }
  input.clear();
  input.seekg(0);
  return *format;
}

std::string KnownProfiles() {
  std::vector<std::string> kinds;
  for (const Row& row : kRows) {
    const std::string kind(row.format.made_by);
    if (!kind.empty() && std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
  }
  const std::string last = kinds.back();
  kinds.pop_back();
  return Join(kinds, ", ") + " or " + last;
}

}  // namespace infimum
