// What a file to import holds, told by its first bytes, not its name.
#pragma once

#include <istream>
#include <string_view>

namespace infimum {

enum class FileKind {
  kJournal,          // a runner's results journal
  kGoogleBenchmark,  // the Google Benchmark JSON that runners write
  kScopeBenchmarks,  // Google Benchmark JSON of another program: entries named LAYER_..., or labelled with workloads
  kRun,              // infimum.run/1
  kOnnxRuntimeProfile,
  kKinetoTrace,  // and other Chrome traces: what is none says so when it is read
  kChakraTrace,  // as JSON: of an execution or of a workload
  kNsysExport,   // a SQLite database that is no store of ours
  // Of a TensorRT engine, by trtexec (tensorrt_engine.h):
  kTensorRtLayerInfo,  // --exportLayerInfo
  kTensorRtProfile,    // --exportProfile
  kTensorRtTimes,      // --exportTimes
  kTensorRtMetadata,   // the device and the options of trtexec, beside those
  kArchive,            // of other files: tar or zip, which nothing here reads
  kUnknown,
};
std::string_view Name(FileKind kind);

// SQLite's tables stand anywhere in its file, so kNsysExport says that ReadNsysExport() may be given the file, which
// then tells whether it is one; a store of ours is known by its header, and kUnknown.
//
// Looks at the first and the last 64 KiB and puts the stream back to its start. A stream that knows no way to its end
// but reading is read.
FileKind DetectFileKind(std::istream& input);

}  // namespace infimum
