#include "src/readers/files/file_kind.h"

#include <algorithm>
#include <optional>
#include <string>

#include "infimum/base/text.h"
#include "src/readers/files/sqlite_header.h"
#include "src/readers/files/trace_frame_scanner.h"

namespace infimum {

std::string_view Name(FileKind kind) {
  switch (kind) {
    case FileKind::kJournal:
      return "results journal";
    case FileKind::kGoogleBenchmark:
      return "Google Benchmark JSON";
    case FileKind::kScopeBenchmarks:
      return "Google Benchmark JSON of another program";
    case FileKind::kRun:
      return "framework run";
    case FileKind::kOnnxRuntimeProfile:
      return "profile of ONNX Runtime";
    case FileKind::kKinetoTrace:
      return "trace of PyTorch's profiler";
    case FileKind::kChakraTrace:
      return "Chakra trace";
    case FileKind::kNsysExport:
      return "export of Nsight Systems";
    case FileKind::kTensorRtLayerInfo:
      return "TensorRT layer information";
    case FileKind::kTensorRtProfile:
      return "TensorRT layer profile";
    case FileKind::kTensorRtTimes:
      return "TensorRT inference times";
    case FileKind::kTensorRtMetadata:
      return "metadata of a TensorRT engine";
    case FileKind::kArchive:
      return "archive of files";
    case FileKind::kCompressed:
      return "compressed file";
    case FileKind::kEventLines:
      return "JSON lines";
    case FileKind::kUnknown:
      return "unknown";
  }
  return "unknown";
}

namespace {

constexpr std::size_t kPart = std::size_t{1} << 16;

// The last bytes of a stream whose first `start` were just read.
std::string EndOf(std::istream& input, const std::string& start) {
  std::string end(start.size(), '\0');
  input.clear();
  const auto here = input.tellg();
  input.seekg(0, std::ios::end);
  if (input) {
    const std::streamoff size = input.tellg();
    input.seekg(std::max<std::streamoff>(0, size - static_cast<std::streamoff>(end.size())));
    input.read(end.data(), static_cast<std::streamsize>(end.size()));
    end.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, input.gcount())));
    return end;
  }
  // It cannot jump, as what is being decompressed cannot.
  input.clear();
  input.seekg(here);
  end = start;
  std::string block(kPart, '\0');
  while (input.read(block.data(), static_cast<std::streamsize>(block.size())) || input.gcount() > 0) {
    end.append(block, 0, static_cast<std::size_t>(input.gcount()));
    if (end.size() > kPart) end.erase(0, end.size() - kPart);
  }
  return end;
}

constexpr const char* kTraceEvents = "traceEvents";

// ONNX Runtime's begin with the loading of the model.
FileKind KindOfEvents(std::string_view events) {
  const auto has = [&](std::string_view text) { return events.find(text) != std::string_view::npos; };
  const bool is_session = has("\"model_loading_uri\"") || has("\"session_initialization\"") || has("_kernel_time\"");
  return is_session ? FileKind::kOnnxRuntimeProfile : FileKind::kKinetoTrace;
}

// Lists of events, in an object or bare.
FileKind TraceKind(const std::string& start) {
  const auto has = [&start](const char* text) { return start.find(text) != std::string::npos; };
  const bool is_list = start.starts_with('[') && has("\"ph\"");
  if (!is_list && !has("\"traceEvents\"") && !(has("\"schemaVersion\"") && has("\"deviceProperties\"")))
    return FileKind::kUnknown;
  return KindOfEvents(start);
}

// A graph of nodes, called so by its schema or by the node of a process or thread that comes first.
bool IsChakraTrace(std::string_view start) {
  const auto has = [&](std::string_view text) { return start.find(text) != std::string_view::npos; };
  if (!start.starts_with('{')) return false;
  return has("\"workload_graph\"") || (has("\"nodes\"") && (has("-chakra.") || has("[pytorch|profiler|execution_")));
}

// What has to be unpacked before it is read. tar has its name behind the first file's header, the others at the start.
struct Packing {
  std::size_t at;
  std::string_view name;
  FileKind kind;
  std::string_view advice;
};
constexpr Packing kPackings[] = {
    {257, "ustar", FileKind::kArchive,
     "an archive of files: unpack it first (tar -xf FILE) and name the files that are in it"},
    {0, "PK\3\4", FileKind::kArchive, "an archive of files: unpack it first (unzip FILE) and name the files in it"},
    {0, "\x28\xb5\x2f\xfd", FileKind::kCompressed, "compressed by Zstandard: unpack it first (zstd -d FILE)"},
    {0, "\xfd\x37zXZ", FileKind::kCompressed, "compressed by xz: unpack it first (xz -d FILE)"},
    {4, "1AY&SY", FileKind::kCompressed, "compressed by bzip2: unpack it first (bzip2 -d FILE)"},
    {0, "\x1f\x8b", FileKind::kCompressed, "compressed by gzip twice: unpack it once (gunzip FILE)"},
};

const Packing* PackingOf(std::string_view start) {
  for (const Packing& packing : kPackings)
    if (start.size() > packing.at && start.substr(packing.at).starts_with(packing.name)) return &packing;
  return nullptr;
}

// An event of a trace in each line, as databases export them.
bool IsEventLines(std::string_view start) {
  const std::size_t end = start.find('\n');
  if (end == std::string_view::npos) return false;
  const std::string_view first = TrimSpace(start.substr(0, end)), rest = TrimSpace(start.substr(end));
  return first.starts_with("{") && first.ends_with("}") && rest.starts_with("{") &&
         first.find("\"ph\"") != std::string_view::npos;
}

// To what may be told by: behind blanks of any length and a byte order mark, which say nothing.
void SkipBlanks(std::istream& input) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  for (const char byte : kByteOrderMark) {
    if (input.peek() != std::char_traits<char>::to_int_type(byte)) break;
    input.get();
  }
  input >> std::ws;
  input.clear();
}

std::string NextPart(std::istream& input) {
  std::string part(kPart, '\0');
  input.read(part.data(), static_cast<std::streamsize>(part.size()));
  part.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, input.gcount())));
  return part;
}

// The first events of a document in which they stand behind other long fields.
std::string EventsOf(std::istream& input) {
  input.clear();
  input.seekg(0);
  ingest::TraceFrameScanner scanner({kTraceEvents}, false);
  for (std::string part = NextPart(input); !part.empty(); part = NextPart(input)) {
    const Result<std::optional<std::size_t>> opened = scanner.Feed(part);
    if (!opened.ok() || scanner.complete()) break;
    if (*opened) return part.substr(**opened) + NextPart(input);
  }
  return {};
}

// What follows `token`, after space on both sides; nullopt where the text begins with something else.
std::optional<std::string_view> Behind(std::string_view text, std::string_view token) {
  text = TrimSpace(text);
  if (!text.starts_with(token)) return std::nullopt;
  return TrimSpace(text.substr(token.size()));
}

// An object by its first key, a list by a key of its first entries: names of layers come later.
FileKind TensorRtKind(std::string_view start) {
  const auto has = [&](std::string_view key) { return start.find(key) != std::string_view::npos; };
  if (const std::optional<std::string_view> keys = Behind(start, "{")) {
    for (const std::string_view first : {"\"Layers\"", "\"Bindings\""})
      if (keys->starts_with(first)) return FileKind::kTensorRtLayerInfo;
    for (const std::string_view first : {"\"performance_summary\"", "\"inference_options\"", "\"device_information\"",
                                         "\"model_options\"", "\"build_options\""}) {
      if (keys->starts_with(first)) return FileKind::kTensorRtMetadata;
    }
    return FileKind::kUnknown;
  }
  const std::optional<std::string_view> list = Behind(start, "[");
  const std::optional<std::string_view> keys = list ? Behind(*list, "{") : std::nullopt;
  if (!keys) return FileKind::kUnknown;
  if (has("\"averageMs\"") || (keys->starts_with("\"count\"") && (has("\"timeMs\"") || !has(","))))
    return FileKind::kTensorRtProfile;
  if (has("\"computeMs\"")) return FileKind::kTensorRtTimes;
  if (has("\"MULTIPROCESSOR_COUNT\"") && has("\"ComputeCapability\"")) return FileKind::kTensorRtMetadata;
  return FileKind::kUnknown;
}

FileKind Detect(std::istream& input) {
  SkipBlanks(input);
  const std::string start = NextPart(input);
  if (ingest::IsSqlite(start)) return ingest::IsStoreOfOurs(start) ? FileKind::kUnknown : FileKind::kNsysExport;
  if (const Packing* const packing = PackingOf(start)) return packing->kind;
  const std::string first_line = start.substr(0, start.find('\n'));
  const auto first_line_has = [&](const char* text) { return first_line.find(text) != std::string::npos; };
  // Google Benchmark JSON says it too, and may stand on one line.
  if (first_line_has("\"infimum.results/") && !first_line_has("\"context\"") && !first_line_has("\"benchmarks\""))
    return FileKind::kJournal;
  if (const FileKind kind = TensorRtKind(start); kind != FileKind::kUnknown) return kind;
  if (const FileKind kind = TraceKind(start); kind != FileKind::kUnknown) return kind;
  if (IsChakraTrace(start)) return FileKind::kChakraTrace;
  // Keys may stand in alphabetical order, and then "schema" is one of the last.
  for (const std::string& part : {start, EndOf(input, start)})
    if (part.find("\"infimum.run/") != std::string::npos) return FileKind::kRun;
  // Keys stand in alphabetical order or not: either of Google Benchmark's two may come first. Runners add a field of
  // ours to the context and to each entry.
  if (start.find("\"benchmarks\"") != std::string::npos || start.find("\"context\"") != std::string::npos) {
    return start.find("\"infimum\":") != std::string::npos ? FileKind::kGoogleBenchmark : FileKind::kScopeBenchmarks;
  }
  if (IsEventLines(start)) return FileKind::kEventLines;
  if (!start.starts_with('{')) return FileKind::kUnknown;
  const std::string events = EventsOf(input);
  return events.empty() ? FileKind::kUnknown : KindOfEvents(events);
}

}  // namespace

FileKind DetectFileKind(std::istream& input) {
  const FileKind kind = Detect(input);
  input.clear();
  input.seekg(0);
  return kind;
}

std::string UnpackAdvice(std::istream& input) {
  const std::string start = NextPart(input);
  input.clear();
  input.seekg(0);
  if (const Packing* const packing = PackingOf(start)) return std::string(packing->advice);
  return "JSON lines, an event in each: make one list of them first (jq -s . FILE > LIST.json)";
}

}  // namespace infimum
