// Where an export's events happened: processes, threads, streams and devices, as indices into a Timeline.
//
//   globalTid = computer and virtual machine << 48 | process << 24 | thread; globalPid is the same with thread 0
//
// A correlation number is a process's own: two processes that ran at once have the same ones. The trace's are the
// place of the process, in the order of appearance, above 32 bits of the number, so those of the first are unchanged.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "infimum/base/result.h"
#include "infimum/graph/timeline.h"
#include "src/readers/profiles/nsys/nsys_database.h"

namespace infimum::ingest {

class NsysPlaces {
 public:
  explicit NsysPlaces(Timeline& timeline) : timeline_(timeline) {}
  // Which GPU a process calls device 0 (TARGET_INFO_CUDA_DEVICE) and what GPUs are called (TARGET_INFO_GPU). Without
  // these tables a device's number is its process's, and its name is empty.
  Status ReadDevices(const NsysDatabase& database);

  std::uint32_t Thread(std::int64_t global_tid);

  // `global_pid`: nullopt where the row does not say it. `context` tells streams of one number apart.
  std::uint32_t Stream(std::optional<std::int64_t> global_pid, std::int64_t context, std::int64_t device,
                       std::int64_t stream);

  // -1 for no number (or 0), one that is not of 32 bits, or one whose process cannot be told.
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

}  // namespace infimum::ingest
