#include "src/readers/profiles/nsys/nsys_places.h"

#include <algorithm>
#include <utility>

#include "infimum/base/utf8.h"
#include "src/readers/profiles/nsys/nsys_table.h"

namespace infimum::ingest {
namespace {

constexpr int kThreadBits = 24;
constexpr std::int64_t kPart = (std::int64_t{1} << kThreadBits) - 1;
constexpr std::int64_t kUnknownProcess = -1;
constexpr std::size_t kLongestDeviceName = 1000;

std::int64_t ProcessOf(std::int64_t global_id) { return (global_id >> kThreadBits) & kPart; }

}  // namespace

Status NsysPlaces::ReadDevices(const NsysDatabase& database) {
  if (database.HasTable("TARGET_INFO_GPU")) {
    enum : std::size_t { kId, kName, kMultiprocessors };
    INFIMUM_ASSIGN_OR_RETURN(NsysTable rows, NsysTable::Open(database, "TARGET_INFO_GPU",
                                                             {{"id", false}, {"name", false}, {"smCount", false}}));
    while (rows.Next()) {
      const auto id = rows.OptionalInteger(kId), multiprocessors = rows.OptionalInteger(kMultiprocessors);
      if (!id || rows.IsEmpty(kName)) continue;
      const std::string_view name = rows.Text(kName);
      gpus_.emplace(*id, Gpu{ValidUtf8(name.substr(0, kLongestDeviceName)),
                             std::max<std::int64_t>(0, multiprocessors.value_or(0))});
    }
    INFIMUM_RETURN_IF_ERROR(rows.status());
  }
  if (database.HasTable("TARGET_INFO_CUDA_DEVICE")) {
    enum : std::size_t { kGpu, kDevice, kProcess };
    INFIMUM_ASSIGN_OR_RETURN(NsysTable rows, NsysTable::Open(database, "TARGET_INFO_CUDA_DEVICE",
                                                             {{"gpuId", false}, {"cudaId", false}, {"pid", false}}));
    while (rows.Next()) {
      const auto gpu = rows.OptionalInteger(kGpu), device = rows.OptionalInteger(kDevice);
      const auto process = rows.OptionalInteger(kProcess);
      if (gpu && device && process) gpu_of_.emplace(std::pair(*process, *device), *gpu);
    }
    INFIMUM_RETURN_IF_ERROR(rows.status());
  }
  return {};
}

std::uint32_t NsysPlaces::Thread(std::int64_t global_tid) {
  const auto [entry, added] = threads_.emplace(global_tid, static_cast<std::uint32_t>(timeline_.threads.size()));
  if (added) timeline_.threads.push_back({ProcessOf(global_tid), global_tid & kPart});
  return entry->second;
}

std::uint32_t NsysPlaces::Stream(std::optional<std::int64_t> global_pid, std::int64_t context, std::int64_t device,
                                 std::int64_t stream) {
  const StreamKey key(global_pid ? *global_pid >> kThreadBits : kUnknownProcess, context, device, stream);
  if (last_stream_ && last_stream_->first == key) return last_stream_->second;
  const auto [entry, added] = streams_.emplace(key, static_cast<std::uint32_t>(timeline_.streams.size()));
  if (added) {
    const std::int64_t number = NumberOf(global_pid, device);
    timeline_.streams.push_back({number, stream});
    KeepDevice(number);
  }
  last_stream_ = *entry;
  return entry->second;
}

std::int64_t NsysPlaces::Correlation(std::optional<std::int64_t> global_id, std::optional<std::int64_t> number) {
  constexpr std::int64_t kNumbers = std::int64_t{1} << 32;
  if (!number || *number <= 0 || *number >= kNumbers) return -1;
  if (!global_id) return processes_.size() <= 1 ? *number : -1;
  return PlaceOfProcess(*global_id) * kNumbers + *number;
}

std::int64_t NsysPlaces::PlaceOfProcess(std::int64_t global_id) {
  const std::int64_t process = global_id >> kThreadBits;
  if (last_process_ && last_process_->first == process) return last_process_->second;
  const auto entry = processes_.emplace(process, static_cast<std::int64_t>(processes_.size())).first;
  last_process_ = *entry;
  return entry->second;
}

std::int64_t NsysPlaces::NumberOf(std::optional<std::int64_t> global_pid, std::int64_t device) const {
  if (!global_pid) return device;
  const auto gpu = gpu_of_.find(std::pair(ProcessOf(*global_pid), device));
  return gpu == gpu_of_.end() ? device : gpu->second;
}

void NsysPlaces::KeepDevice(std::int64_t number) {
  if (!devices_.insert(number).second) return;
  const auto gpu = gpus_.find(number);
  TimelineDevice device;
  device.number = number;
  if (gpu != gpus_.end()) {
    device.name = gpu->second.name;
    device.multiprocessors = gpu->second.multiprocessors;
  }
  timeline_.devices.push_back(std::move(device));
}

}  // namespace infimum::ingest
