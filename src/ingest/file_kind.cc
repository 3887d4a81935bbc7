#include "infimum/ingest/file_kind.h"

#include <algorithm>
#include <string>

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
    case FileKind::kNsysExport:
      return "export of Nsight Systems";
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
  const std::string first_line = start.substr(0, start.find('\n'));
  const bool is_journal = first_line.find("\"infimum.results/") != std::string::npos;
  if (const FileKind trace = TraceKind(start); trace != FileKind::kUnknown) {
    input.clear();
    input.seekg(0);
    return trace;
  }
  const std::string end = is_journal ? std::string() : EndOf(input, start);
  input.clear();
  input.seekg(0);
  if (is_journal) return FileKind::kJournal;
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
