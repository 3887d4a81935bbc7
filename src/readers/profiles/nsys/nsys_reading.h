// What the readers of an export's tables share: the database, the trace that they fill, and its names and places.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/graph/timeline.h"
#include "src/core/graph/name_table.h"
#include "src/readers/profiles/nsys/nsys_database.h"

namespace infimum::ingest {

// The texts that an export's rows refer to by number (table StringIds), and texts in the rows themselves, as
// names of the trace. A text is looked up when it is first referred to, since the table holds whole files too, and
// known by its number after that: no text is hashed for each row.
//
//   NsysNames names(database, timeline.names);
//   work.name = names.Referred(rows, kDemangledName);        // "gemm<float>(float*)"
//   call.name = names.ReferredCall(rows, kNameId);           // "cudaLaunchKernel" of "cudaLaunchKernel_v7000"
//
// Names together take no more than the file does, whose pages could hold one text for many rows.

// Without the version of CUDA at the end of a call's name: _v3020, _v11060. "cuMemAlloc_v2" is the driver's own name.
std::string_view WithoutCudaVersion(std::string_view call);

class NsysNames {
 public:
  NsysNames(const NsysDatabase& database, NameTable& names) : database_(database), names_(names) {}

  // The name in the current row of `rows`; kNoName, and `rows` fails, where it cannot be read.
  NameId Referred(NsysTable& rows, std::size_t column) { return Find(as_written_, rows, column); }
  NameId ReferredCall(NsysTable& rows, std::size_t column) { return Find(calls_, rows, column); }
  NameId TextOf(NsysTable& rows, std::size_t column);

 private:
  // Numbers are mostly small: a list by number, and a map of the rest.
  struct Known {
    std::vector<NameId> dense;
    std::map<std::int64_t, NameId> rest;
  };
  NameId Find(Known& known, NsysTable& rows, std::size_t column);
  NameId LookUp(const Known& known, std::int64_t number, NsysTable& rows, std::size_t column);
  NameId Keep(std::string_view text, NsysTable& rows, std::size_t column);

  const NsysDatabase& database_;
  NameTable& names_;
  Known as_written_, calls_;
  SqliteStatement look_up_;
  std::uint64_t kept_bytes_ = 0;
};

// Where an export's events happened: processes, threads, streams and devices, as indices into a Timeline.
//
//   globalTid = computer and virtual machine << 48 | process << 24 | thread; globalPid is the same with thread 0
//
// A correlation number is a process's own: two processes that ran at once have the same ones. The trace's are the
// place of the process, in the order of appearance, above 32 bits of the number, so those of the first are unchanged.

class NsysPlaces {
 public:
  explicit NsysPlaces(Timeline& timeline) : timeline_(timeline) {}
  // Which GPU a process calls device 0 (TARGET_INFO_CUDA_DEVICE) and what GPUs are called (TARGET_INFO_GPU). Without
  // these tables a device's number is its process's, and its name is empty.
  Status ReadDevices(const NsysDatabase& database);

  std::uint32_t Thread(std::int64_t global_tid);

  // `global_pid`: nullopt where the row does not have it. `context` distinguishes streams of one number.
  std::uint32_t Stream(std::optional<std::int64_t> global_pid, std::int64_t context, std::int64_t device,
                       std::int64_t stream);

  // -1 for no number (or 0), one that is not of 32 bits, or one whose process is not known.
  std::int64_t Correlation(std::optional<std::int64_t> global_id, std::optional<std::int64_t> number);

 private:
  struct Gpu {
    std::string name;
    std::int64_t multiprocessors = 0;
  };
  std::int64_t PlaceOfProcess(std::int64_t global_id);
  std::int64_t NumberOf(std::optional<std::int64_t> global_pid, std::int64_t device) const;
  void KeepDevice(std::int64_t number);

  Timeline& timeline_;
  std::map<std::int64_t, std::int64_t> processes_;  // global id without its thread -> place
  std::map<std::int64_t, std::uint32_t> threads_;
  // Process, context, device, stream.
  using StreamKey = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
  std::map<StreamKey, std::uint32_t> streams_;
  std::optional<std::pair<StreamKey, std::uint32_t>> last_stream_;
  std::optional<std::pair<std::int64_t, std::int64_t>> last_process_;
  std::set<std::int64_t> devices_;
  std::map<std::int64_t, Gpu> gpus_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> gpu_of_;  // process, its device -> GPU
};

struct NsysReading {
  NsysReading(const NsysDatabase& from, Timeline& into)
      : database(from), timeline(into), names(from, into.names), places(into) {}

  // Every event of the file comes here, kept or not.
  void Saw(const NsysSpan& span) {
    ++timeline.events;
    first_ns = std::min(first_ns, span.start);
    last_ns = std::max(last_ns, span.end());
  }
  void Remark(std::string text) { timeline.remarks.push_back(std::move(text)); }

  const NsysDatabase& database;
  Timeline& timeline;
  NsysNames names;
  NsysPlaces places;
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
};

inline constexpr const char* kNsysKernels = "CUPTI_ACTIVITY_KIND_KERNEL";
inline constexpr const char* kNsysCopies = "CUPTI_ACTIVITY_KIND_MEMCPY";
inline constexpr const char* kNsysSets = "CUPTI_ACTIVITY_KIND_MEMSET";
inline constexpr const char* kNsysGraphs = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
inline constexpr const char* kNsysCalls = "CUPTI_ACTIVITY_KIND_RUNTIME";
inline constexpr const char* kNsysRanges = "NVTX_EVENTS";

// Kernels, copies, sets and CUDA graphs. A file without a table of any of them is an error.
Status ReadNsysDeviceWork(NsysReading& reading);

// Calls of the CUDA runtime and driver: read before device work, since they name the processes.
Status ReadNsysCalls(NsysReading& reading);

// NVTX ranges: to be read after everything else, since those that are still open end with the trace.
Status ReadNsysRanges(NsysReading& reading);

}  // namespace infimum::ingest
