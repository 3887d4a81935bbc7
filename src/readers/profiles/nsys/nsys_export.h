// Reads what `nsys export --type sqlite REPORT.nsys-rep` writes: NVIDIA Nsight Systems' trace as a SQLite database, one
// table a kind of event, texts by number in StringIds.
//
//   CUPTI_ACTIVITY_KIND_KERNEL   start 1000, end 1250, deviceId 0, streamId 7, correlationId 77, demangledName 12, ...
//   CUPTI_ACTIVITY_KIND_RUNTIME  start  900, end  940, globalTid 281474976710757, correlationId 77, nameId 30
//   StringIds                    (12, "gemm<float>(float*)"), (30, "cudaLaunchKernel_v7000")
//
// becomes a call "cudaLaunchKernel" of 40 ns and a kernel "gemm<float>(float*)" of 250 ns on stream 7 of device 0, both
// with correlation 77.
//
// Kept are kernels, copies, sets, CUDA graphs whose kernels were not traced one by one ("CUDA graph 5"), calls of the
// CUDA runtime and driver, and NVTX ranges; other tables count in the trace's extent alone. Correlation numbers are a
// process's own in the export. Here they are the trace's: those of the first process unchanged, those of the
// others with the process's place above the 32 bits. Two streams of one number, of two processes or contexts, are two
// streams. Devices are numbered as the export's list of GPUs does, where it maps a process's device 0 to a GPU.
#pragma once

#include <filesystem>

#include "infimum/base/result.h"
#include "infimum/graph/timeline.h"

namespace infimum {

// The file is only read, and nothing is made beside it. Errors name table, row (counted from 1 in the table's order)
// and column: "x.sqlite: CUPTI_ACTIVITY_KIND_KERNEL row 17: 'end' is before 'start'".
Result<Timeline> ReadNsysExport(const std::filesystem::path& path);

}  // namespace infimum
