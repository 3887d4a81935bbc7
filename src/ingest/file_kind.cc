#include "infimum/ingest/file_kind.h"

#include <algorithm>
#include <optional>
#include <string>

#include "infimum/base/text.h"
#include "src/ingest/sqlite_header.h"

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

// Lists of events, in an object or bare. ONNX Runtime's begin with the loading of the model.
FileKind TraceKind(const std::string& start) {
  const auto has = [&start](const char* text) { return start.find(text) != std::string::npos; };
  const std::size_t first = start.find_first_not_of(" \t\r\n");
  const bool is_list = first != std::string::npos && start[first] == '[' && has("\"ph\"");
  if (!is_list && !has("\"traceEvents\"") && !(has("\"schemaVersion\"") && has("\"deviceProperties\"")))
    return FileKind::kUnknown;
  const bool is_session = has("\"model_loading_uri\"") || has("\"session_initialization\"") || has("_kernel_time\"");
  return is_session ? FileKind::kOnnxRuntimeProfile : FileKind::kKinetoTrace;
}

// A graph of nodes, called so by its schema or by the node of a process or thread that comes first.
bool IsChakraTrace(std::string_view start) {
  const auto has = [&](std::string_view text) { return start.find(text) != std::string_view::npos; };
  if (start.find_first_not_of(" \t\r\n") != start.find('{')) return false;
  return has("\"workload_graph\"") || (has("\"nodes\"") && (has("-chakra.") || has("[pytorch|profiler|execution_")));
}

// tar has its name behind the first file's header, zip at its start.
bool IsArchive(std::string_view start) {
  return (start.size() >= 512 && start.substr(257, 5) == "ustar") || start.starts_with("PK\3\4");
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

}  // namespace

FileKind DetectFileKind(std::istream& input) {
  std::string start(kPart, '\0');
  input.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(input.gcount()));
  if (ingest::IsSqlite(start)) {
    input.clear();
    input.seekg(0);
    return ingest::IsStoreOfOurs(start) ? FileKind::kUnknown : FileKind::kNsysExport;
  }
  if (IsArchive(start)) {
    input.clear();
    input.seekg(0);
    return FileKind::kArchive;
  }
  const std::string first_line = start.substr(0, start.find('\n'));
  const auto first_line_has = [&](const char* text) { return first_line.find(text) != std::string::npos; };
  // Google Benchmark JSON says it too, and may stand on one line.
  const bool is_journal =
      first_line_has("\"infimum.results/") && !first_line_has("\"context\"") && !first_line_has("\"benchmarks\"");
  FileKind profile = is_journal ? FileKind::kUnknown : TensorRtKind(start);
  if (!is_journal && profile == FileKind::kUnknown) profile = TraceKind(start);
  if (!is_journal && profile == FileKind::kUnknown && IsChakraTrace(start)) profile = FileKind::kChakraTrace;
  const bool is_known = is_journal || profile != FileKind::kUnknown;
  const std::string end = is_known ? std::string() : EndOf(input, start);
  input.clear();
  input.seekg(0);
  if (is_journal) return FileKind::kJournal;
  if (is_known) return profile;
  // Keys may stand in alphabetical order, and then "schema" is one of the last.
  for (const std::string& part : {start, end})
    if (part.find("\"infimum.run/") != std::string::npos) return FileKind::kRun;
  // Keys stand in alphabetical order or not: either of Google Benchmark's two may come first. Runners add a field of
  // ours to the context and to each entry.
  if (start.find("\"benchmarks\"") != std::string::npos || start.find("\"context\"") != std::string::npos) {
    return start.find("\"infimum\":") != std::string::npos ? FileKind::kGoogleBenchmark : FileKind::kScopeBenchmarks;
  }
  return FileKind::kUnknown;
}

}  // namespace infimum
