// Kernels, copies, sets and CUDA graphs of an export: the tables of CUPTI's activities on a device.
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/readers/profiles/nsys/nsys_reading.h"

namespace infimum::ingest {
namespace {

// The columns that all four have.
enum Common : std::size_t { kStart, kEnd, kDevice, kContext, kStream, kCorrelation, kProcess, kCommon };
std::vector<NsysColumn> CommonAnd(std::initializer_list<NsysColumn> own) {
  std::vector<NsysColumn> columns = {
      {"start"},           {"end"}, {"deviceId"}, {"contextId", false}, {"streamId"}, {"correlationId", false},
      {"globalPid", false}};
  columns.insert(columns.end(), own);
  return columns;
}

// Field names of Kineto's traces, so that a copy has the same name in both.
constexpr std::array<std::string_view, 14> kCopyKinds = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD",
                                                         "DtoA",    "DtoD", "HtoH", "PtoP", "HtoD", "DtoH", "DtoD"};
// Nsight Systems' numbers (ENUM_CUDA_MEM_KIND), which are not CUPTI's.
constexpr std::array<std::string_view, 8> kMemoryKinds = {"Pageable", "Pinned",        "Device",         "Array",
                                                          "Managed",  "Device Static", "Managed Static", "Unknown"};

template <std::size_t n>
std::string_view NameOf(const std::array<std::string_view, n>& names, std::optional<std::int64_t> number) {
  return number && *number >= 0 && static_cast<std::uint64_t>(*number) < n ? names[static_cast<std::size_t>(*number)]
                                                                           : "Unknown";
}

// A grid and a block.
using Launch = std::array<std::int64_t, 6>;

class DeviceWorkReader {
 public:
  explicit DeviceWorkReader(NsysReading& reading) : reading_(reading) {}

  Status ReadKernels();
  Status ReadCopies();
  Status ReadSets();
  Status ReadGraphs();
  void Summarize();

 private:
  // The fields that all have; nullopt for what is not to be kept.
  std::optional<DeviceWork> Take(NsysTable& rows, DeviceWorkKind kind);
  void Keep(DeviceWork work, NsysTable& rows, std::size_t graph_node);
  NameId LaunchOf(NsysTable& rows, std::size_t first);

  NsysReading& reading_;
  // Trees, as all that a file's numbers are kept in: it cannot choose numbers that collide.
  std::map<Launch, NameId> launches_;
  std::set<std::int64_t> traced_graphs_;  // correlations of graphs whose nodes were traced one by one
  std::int64_t in_graphs_ = 0, without_times_ = 0, whole_graphs_ = 0, repeated_graphs_ = 0;
};

std::optional<DeviceWork> DeviceWorkReader::Take(NsysTable& rows, DeviceWorkKind kind) {
  const NsysSpan span = rows.Span(kStart, kEnd);
  // CUPTI's value for absent times.
  if (span.start == 0 && span.duration == 0) {
    ++reading_.timeline.events;
    ++without_times_;
    return std::nullopt;
  }
  reading_.Saw(span);
  const std::optional<std::int64_t> process = rows.OptionalInteger(kProcess);
  DeviceWork work;
  work.start_ns = span.start;
  work.duration_ns = span.duration;
  work.kind = kind;
  work.correlation = reading_.places.Correlation(process, rows.OptionalInteger(kCorrelation));
  work.stream = reading_.places.Stream(process, rows.OptionalInteger(kContext).value_or(0), rows.Integer(kDevice),
                                       rows.Integer(kStream));
  return work;
}

void DeviceWorkReader::Keep(DeviceWork work, NsysTable& rows, std::size_t graph_node) {
  if (!rows.IsEmpty(graph_node)) {
    ++in_graphs_;
    if (work.correlation >= 0) traced_graphs_.insert(work.correlation);
  }
  reading_.timeline.device_work.push_back(work);
}

NameId DeviceWorkReader::LaunchOf(NsysTable& rows, std::size_t first) {
  Launch launch{};
  for (std::size_t i = 0; i < launch.size(); ++i) {
    if (rows.IsEmpty(first + i)) return kNoName;
    launch[i] = rows.Integer(first + i);
  }
  const auto [entry, added] = launches_.emplace(launch, kNoName);
  if (added) {
    entry->second = reading_.timeline.names.Intern(fmt::format("grid [{},{},{}] block [{},{},{}]", launch[0], launch[1],
                                                               launch[2], launch[3], launch[4], launch[5]));
  }
  return entry->second;
}

Status DeviceWorkReader::ReadKernels() {
  if (!reading_.database.HasTable(kNsysKernels)) return {};
  enum : std::size_t { kName = kCommon, kShortName, kGridX, kGraphNode = kGridX + 6 };
  INFIMUM_ASSIGN_OR_RETURN(NsysTable rows, NsysTable::Open(reading_.database, kNsysKernels,
                                                           CommonAnd({{"demangledName", false},
                                                                      {"shortName", false},
                                                                      {"gridX", false},
                                                                      {"gridY", false},
                                                                      {"gridZ", false},
                                                                      {"blockX", false},
                                                                      {"blockY", false},
                                                                      {"blockZ", false},
                                                                      {"graphNodeId", false}})));
  const bool has_whole_names = rows.Has(kName);
  if (!has_whole_names && !rows.Has(kShortName)) {
    return Error{
        fmt::format("{}: {} has no column 'demangledName' ({}); export the report with a newer Nsight Systems: {}",
                    reading_.database.name(), kNsysKernels, reading_.database.Schema(), kNsysExportCommand)};
  }
  if (!has_whole_names)
    reading_.Remark(fmt::format("{} has no column 'demangledName': kernels have short names", kNsysKernels));
  if (!rows.Has(kGridX))
    reading_.Remark(fmt::format("{} has no column 'gridX': launch geometry is not recorded", kNsysKernels));
  if (!rows.Has(kCorrelation)) {
    reading_.Remark(
        fmt::format("{} has no column 'correlationId': which call started which kernel is not known", kNsysKernels));
  }
  while (rows.Next()) {
    std::optional<DeviceWork> work = Take(rows, DeviceWorkKind::kKernel);
    if (!work) continue;
    work->name = reading_.names.Referred(rows, has_whole_names && !rows.IsEmpty(kName) ? kName : kShortName);
    work->launch = LaunchOf(rows, kGridX);
    Keep(*work, rows, kGraphNode);
  }
  return rows.status();
}

Status DeviceWorkReader::ReadCopies() {
  if (!reading_.database.HasTable(kNsysCopies)) return {};
  enum : std::size_t { kKind = kCommon, kSource, kTarget, kGraphNode };
  INFIMUM_ASSIGN_OR_RETURN(
      NsysTable rows,
      NsysTable::Open(
          reading_.database, kNsysCopies,
          CommonAnd({{"copyKind", false}, {"srcKind", false}, {"dstKind", false}, {"graphNodeId", false}})));
  while (rows.Next()) {
    std::optional<DeviceWork> work = Take(rows, DeviceWorkKind::kCopy);
    if (!work) continue;
    const std::string_view kind = NameOf(kCopyKinds, rows.OptionalInteger(kKind));
    work->name = reading_.timeline.names.Intern(rows.IsEmpty(kSource) || rows.IsEmpty(kTarget)
                                                    ? fmt::format("Memcpy {}", kind)
                                                    : fmt::format("Memcpy {} ({} -> {})", kind,
                                                                  NameOf(kMemoryKinds, rows.OptionalInteger(kSource)),
                                                                  NameOf(kMemoryKinds, rows.OptionalInteger(kTarget))));
    Keep(*work, rows, kGraphNode);
  }
  return rows.status();
}

Status DeviceWorkReader::ReadSets() {
  if (!reading_.database.HasTable(kNsysSets)) return {};
  enum : std::size_t { kMemory = kCommon, kGraphNode };
  INFIMUM_ASSIGN_OR_RETURN(NsysTable rows, NsysTable::Open(reading_.database, kNsysSets,
                                                           CommonAnd({{"memKind", false}, {"graphNodeId", false}})));
  while (rows.Next()) {
    std::optional<DeviceWork> work = Take(rows, DeviceWorkKind::kSet);
    if (!work) continue;
    work->name = reading_.timeline.names.Intern(
        rows.IsEmpty(kMemory) ? "Memset"
                              : fmt::format("Memset ({})", NameOf(kMemoryKinds, rows.OptionalInteger(kMemory))));
    Keep(*work, rows, kGraphNode);
  }
  return rows.status();
}

Status DeviceWorkReader::ReadGraphs() {
  if (!reading_.database.HasTable(kNsysGraphs)) return {};
  enum : std::size_t { kGraph = kCommon };
  INFIMUM_ASSIGN_OR_RETURN(NsysTable rows,
                           NsysTable::Open(reading_.database, kNsysGraphs, CommonAnd({{"graphId", false}})));
  while (rows.Next()) {
    std::optional<DeviceWork> work = Take(rows, DeviceWorkKind::kKernel);
    if (!work) continue;
    // Its kernels are there already.
    if (traced_graphs_.contains(work->correlation)) {
      ++repeated_graphs_;
      continue;
    }
    ++whole_graphs_;
    const std::optional<std::int64_t> graph = rows.OptionalInteger(kGraph);
    work->name =
        reading_.timeline.names.Intern(graph ? fmt::format("CUDA graph {}", *graph) : std::string("CUDA graph"));
    reading_.timeline.device_work.push_back(*work);
  }
  return rows.status();
}

void DeviceWorkReader::Summarize() {
  if (without_times_ > 0)
    reading_.Remark(fmt::format("{} kernels, copies or sets without times ignored", without_times_));
  if (in_graphs_ > 0)
    reading_.Remark(
        fmt::format("{} kernels, copies or sets were started by CUDA graphs: they share their launch", in_graphs_));
  if (whole_graphs_ > 0) {
    reading_.Remark(
        fmt::format("{} executions of CUDA graphs were traced as a whole; for the kernels in them record with nsys "
                    "profile --cuda-graph-trace=node",
                    whole_graphs_));
  }
  if (repeated_graphs_ > 0) {
    reading_.Remark(
        fmt::format("{} executions of CUDA graphs ignored: the kernels in them were traced too", repeated_graphs_));
  }
}

}  // namespace

Status ReadNsysDeviceWork(NsysReading& reading) {
  const NsysDatabase& database = reading.database;
  bool any = false;
  for (const char* table : {kNsysKernels, kNsysCopies, kNsysSets, kNsysGraphs}) any = any || database.HasTable(table);
  if (!any) {
    if (!database.HasTable("StringIds")) {
      return Error{
          fmt::format("{}: a SQLite database, but not an export of Nsight Systems, which has a table {}; make one "
                      "with: {}",
                      database.name(), kNsysKernels, kNsysExportCommand)};
    }
    return Error{
        fmt::format("{}: no table {}: no work of a GPU was traced, or not exported; record with nsys profile "
                    "--trace=cuda,nvtx, then: {}",
                    database.name(), kNsysKernels, kNsysExportCommand)};
  }
  DeviceWorkReader reader(reading);
  INFIMUM_RETURN_IF_ERROR(reader.ReadKernels());
  INFIMUM_RETURN_IF_ERROR(reader.ReadCopies());
  INFIMUM_RETURN_IF_ERROR(reader.ReadSets());
  INFIMUM_RETURN_IF_ERROR(reader.ReadGraphs());
  reader.Summarize();
  return {};
}

}  // namespace infimum::ingest
