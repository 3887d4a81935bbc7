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
  // Of a TensorRT engine, by trtexec (tensorrt_engine.h):
  kTensorRtLayerInfo,  // --exportLayerInfo
  kTensorRtProfile,    // --exportProfile
  kTensorRtTimes,      // --exportTimes
  kTensorRtMetadata,   // the device and the options of trtexec, beside those
  kUnknown,
};
std::string_view Name(FileKind kind);

// Looks at the first and the last 64 KiB and puts the stream back to its start. A stream that knows no way to its end
// but reading is read.
FileKind DetectFileKind(std::istream& input);

}  // namespace infimum
