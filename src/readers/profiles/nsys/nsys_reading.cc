#include "src/readers/profiles/nsys/nsys_reading.h"

#include <fmt/format.h>

#include "infimum/base/utf8.h"

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

namespace {

constexpr std::size_t kDense = std::size_t{1} << 22;
constexpr std::size_t kLongestName = std::size_t{1} << 20;

}  // namespace

std::string_view WithoutCudaVersion(std::string_view call) {
  constexpr std::string_view kDigits = "0123456789";
  const std::size_t last = call.find_last_not_of(kDigits);
  if (last == std::string_view::npos || last == 0 || call.size() - last - 1 < 4) return call;
  return call.substr(last - 1, 2) == "_v" ? call.substr(0, last - 1) : call;
}

NameId NsysNames::Find(Known& known, NsysTable& rows, std::size_t column) {
  const std::int64_t number = rows.Integer(column);
  if (!rows.status()) return kNoName;
  if (number < 0 || static_cast<std::uint64_t>(number) >= kDense) {
    const auto found = known.rest.find(number);
    if (found != known.rest.end()) return found->second;
    return known.rest[number] = LookUp(known, number, rows, column);
  }
  const auto place = static_cast<std::size_t>(number);
  if (place >= known.dense.size()) known.dense.resize(std::max(place + 1, known.dense.size() * 2), kNoName);
  NameId& name = known.dense[place];
  if (name == kNoName) name = LookUp(known, number, rows, column);
  return name;
}

NameId NsysNames::LookUp(const Known& known, std::int64_t number, NsysTable& rows, std::size_t column) {
  if (!look_up_) {
    if (!database_.HasTable("StringIds")) {
      rows.FailAt(column, fmt::format("refers to a table StringIds, which the file lacks; export all of the report: {}",
                                      kNsysExportCommand));
      return kNoName;
    }
    Result<SqliteStatement> prepared = database_.Prepare("SELECT value FROM \"StringIds\" WHERE id = ?1");
    if (!prepared) {
      rows.FailWith(prepared.error());
      return kNoName;
    }
    look_up_ = std::move(prepared).value();
  }
  sqlite3_reset(look_up_.get());
  sqlite3_bind_int64(look_up_.get(), 1, number);
  const int code = sqlite3_step(look_up_.get());
  if (code == SQLITE_DONE) {
    rows.FailAt(column, fmt::format("is {}, which StringIds does not contain", number));
    return kNoName;
  }
  if (code != SQLITE_ROW) {
    rows.FailWith(database_.LastError("StringIds"));
    return kNoName;
  }
  const bool is_text = sqlite3_column_type(look_up_.get(), 0) == SQLITE_TEXT;
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(look_up_.get(), 0));
  if (!is_text || text == nullptr) {
    rows.FailAt(column, fmt::format("is {}, whose value in StringIds is not a text", number));
    return kNoName;
  }
  const std::string_view whole(text, static_cast<std::size_t>(sqlite3_column_bytes(look_up_.get(), 0)));
  return Keep(&known == &calls_ ? WithoutCudaVersion(whole) : whole, rows, column);
}

NameId NsysNames::TextOf(NsysTable& rows, std::size_t column) {
  const std::string_view text = rows.Text(column);
  return rows.status() ? Keep(text, rows, column) : kNoName;
}

NameId NsysNames::Keep(std::string_view text, NsysTable& rows, std::size_t column) {
  if (text.size() > kLongestName) {
    rows.FailAt(column, fmt::format("is a text of {} bytes; a name has at most {}", text.size(), kLongestName));
    return kNoName;
  }
  const std::size_t before = names_.size();
  const NameId name = names_.Intern(ValidUtf8(text));
  if (names_.size() == before) return name;
  kept_bytes_ += text.size();
  // A text in UTF-16 may grow by half.
  if (kept_bytes_ > 2 * database_.bytes())
    rows.FailAt(column, "and the names before it are longer than the whole file: it is damaged");
  return name;
}

}  // namespace infimum::ingest
