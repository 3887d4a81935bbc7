// What a file to import holds, told by its first bytes, not its name.
#pragma once

#include <istream>
#include <string>
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
  // What nothing here reads as it is; UnpackAdvice() says what to do:
  kArchive,     // of other files: tar or zip
  kCompressed,  // by something else than gzip, or by gzip twice
  kEventLines,  // events of a trace as JSON lines
  kUnknown,
};
std::string_view Name(FileKind kind);

// SQLite's tables stand anywhere in its file, so kNsysExport says that ReadNsysExport() may be given the file, which
// then tells whether it is one; a store of ours is known by its header, and kUnknown.
//
// Looks at the first 64 KiB behind blanks and a byte order mark, and at the last, and puts the stream back to its
// start. A stream that knows no way to its end but reading is read, and so is a document whose first keys tell nothing.
FileKind DetectFileKind(std::istream& input);

// What a file of kind kArchive, kCompressed or kEventLines is, and the command that makes a file of it that can be
// read. The stream is put back to its start.
std::string UnpackAdvice(std::istream& input);

}  // namespace infimum
