#include "db/store/data_sheets.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "infimum/base/check.h"
#include "infimum/base/text.h"

namespace infimum {

std::vector<std::vector<std::string>> ReadCsv(std::string_view text) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> row;
  std::string cell;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c != '"') {
        cell += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        cell += c;
        ++i;
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',' || c == '\n') {
      row.push_back(std::move(cell));
      cell.clear();
      if (c == ',') continue;
      rows.push_back(std::move(row));
      row.clear();
    } else if (c != '\r') {
      cell += c;
    }
  }
  if (!cell.empty() || !row.empty()) {
    row.push_back(std::move(cell));
    rows.push_back(std::move(row));
  }
  return rows;
}

namespace {

// One line of the file by the names of its columns.
class Line {
 public:
  Line(const std::vector<std::string>& names, const std::vector<std::string>& cells) {
    INFIMUM_CHECK(names.size() == cells.size(), "every line of devices.csv has a cell for each column");
    for (std::size_t i = 0; i < names.size(); ++i) cells_[names[i]] = cells[i];
  }

  const std::string& text(const std::string& name) const {
    const auto found = cells_.find(name);
    INFIMUM_CHECK(found != cells_.end(), "devices.csv has this column");
    return found->second;
  }
  // nullopt where the cell is empty: the hardware cannot do it, or the figure is not known.
  std::optional<double> number(const std::string& name) const {
    return text(name).empty() ? std::nullopt : ParseNumber(text(name));
  }

 private:
  std::map<std::string, std::string> cells_;
};

std::optional<double> Larger(std::optional<double> a, std::optional<double> b) {
  if (!a || !b) return a ? a : b;
  return std::max(*a, *b);
}

// Rates are quoted at a clock; a floor needs the one that cannot be exceeded.
class ClockScale {
 public:
  explicit ClockScale(const Line& line) : line_(line) {}

  struct Scaled {
    double factor = 1;
    bool certain = false;
  };
  Scaled Vectors() const { return From("boost_clock_mhz"); }
  Scaled Tensors() const { return From(line_.number("tensor_clock_mhz") ? "tensor_clock_mhz" : "boost_clock_mhz"); }

 private:
  Scaled From(const std::string& quoted) const {
    // A processor's turbo clock is its highest.
    if (line_.text("kind") == "cpu") return {1, true};
    const std::optional<double> at = line_.number(quoted), highest = line_.number("max_clock_mhz");
    if (!at || !highest) return {};
    return {std::max(1.0, *highest / *at), true};
  }

  const Line& line_;
};

DevicePeaks PeaksOf(const Line& line) {
  DevicePeaks peaks;
  const bool cpu = line.text("kind") == "cpu";
  // A processor's rates are of all its cores; each of them has its share, while memory serves one as well as all.
  const std::int64_t cores = static_cast<std::int64_t>(line.number("multiprocessors").value_or(1));
  const ClockScale clocks(line);
  const auto add = [&](DataType type, std::optional<double> tera, ClockScale::Scaled scale,
                       PeakRate::Kind kind = PeakRate::Kind::kArithmetic) {
    if (!tera) return;
    PeakRate rate;
    rate.kind = kind;
    rate.type = type;
    rate.per_second = *tera * 1e12 * scale.factor / (cpu ? static_cast<double>(cores) : 1.0);
    rate.source = (scale.certain ? "data sheet: " : "boost clock of the data sheet: ") + line.text("source");
    peaks.rates.push_back(std::move(rate));
  };
  add(DataType::kF64, Larger(line.number("f64_tflops"), line.number("f64_tensor_tflops")), clocks.Vectors());
  add(DataType::kF32, line.number("f32_tflops"), clocks.Vectors());
  add(DataType::kF32, line.number("tf32_tflops"), clocks.Tensors(), PeakRate::Kind::kTf32);
  const std::optional<double> half = Larger(line.number("f16_f32acc_tflops"), line.number("f16_f16acc_tflops"));
  // A type without units of its own is computed as f32.
  const bool tensor_half = half && (!line.number("f16_vector_tflops") || *half >= *line.number("f16_vector_tflops"));
  add(DataType::kF16, Larger(Larger(half, line.number("f16_vector_tflops")), line.number("f32_tflops")),
      tensor_half ? clocks.Tensors() : clocks.Vectors());
  add(DataType::kBF16, Larger(line.number("bf16_tflops"), line.number("f32_tflops")), clocks.Tensors());
  for (const DataType type : {DataType::kS8, DataType::kU8}) add(type, line.number("int8_tops"), clocks.Tensors());
  for (const DataType type : {DataType::kF8E4M3, DataType::kF8E5M2})
    add(type, Larger(line.number("fp8_f32acc_tflops"), line.number("fp8_f16acc_tflops")), clocks.Tensors());
  add(DataType::kF4E2M1, line.number("fp4_tflops"), clocks.Tensors());

  if (const std::optional<double> bandwidth = line.number("memory_bandwidth_gb_s")) {
    PeakRate rate;
    rate.kind = PeakRate::Kind::kRead;
    rate.type = DataType::kNone;
    rate.per_second = *bandwidth * 1e9;
    rate.source = "data sheet: " + line.text("source");
    peaks.rates.push_back(std::move(rate));
  }
  // Levels nearer than memory. A program may keep weights in registers from one inference to the next, so that they
  // count: 64 Ki of 32 bits for each multiprocessor, 128 Ki on compute capability 3.7 (CUDA C++ Programming Guide). So
  // does tensor memory, which compute capabilities 10 and 11 alone have: 128 lanes x 512 columns of 32 bits for each
  // multiprocessor (PTX ISA 8.6, "Tensor Memory" of tcgen05).
  const double multiprocessors = static_cast<double>(cores);
  const std::string capability = line.text("compute_capability");
  const double registers = cpu ? 0.0 : capability == "3.7" ? 512 : 256;
  const double tensor_memory = capability.starts_with("10.") || capability.starts_with("11.") ? 256 : 0;
  const double kib = 1024 * (line.number("l2_mib").value_or(0) + line.number("l3_mib").value_or(0)) +
                     multiprocessors * (line.number("l1_kib_per_sm").value_or(0) + registers + tensor_memory);
  peaks.nearer_than_memory = Bytes{static_cast<std::int64_t>(kib * 1024)};
  return peaks;
}

DataSheet SheetFrom(const Line& line) {
  DataSheet sheet;
  Device& device = sheet.device;
  device.kind = line.text("kind") == "gpu" ? DeviceKind::kGpu : DeviceKind::kCpu;
  device.name = line.text("name");
  device.vendor = line.text("vendor");
  device.generation = line.text("generation");
  device.identity["data_sheet"] = device.name;
  for (const char* part : {"compute_capability", "multiprocessors"})
    if (!line.text(part).empty()) device.identity[part] = line.text(part);
  device.cores = static_cast<std::int64_t>(line.number("multiprocessors").value_or(1));
  const char* const last_level = device.kind == DeviceKind::kGpu ? "l2_mib" : "l3_mib";
  device.last_level_cache = Bytes{static_cast<std::int64_t>(line.number(last_level).value_or(0) * (1 << 20))};
  device.memory = Bytes{static_cast<std::int64_t>(line.number("memory_gib").value_or(0) * (1 << 30))};
  for (const std::string_view alias : Split(line.text("aliases"), '|'))
    if (!alias.empty()) sheet.aliases.emplace_back(alias);
  sheet.year = line.text("year");
  sheet.source = line.text("source");
  sheet.notes = line.text("notes");
  sheet.peaks = PeaksOf(line);
  const std::optional<double> base = line.number("base_clock_mhz");
  const std::optional<double> highest = Larger(line.number("boost_clock_mhz"), line.number("max_clock_mhz"));
  if (base && highest) sheet.middle_clock = std::sqrt(std::min(1.0, *base / *highest));
  return sheet;
}

std::string NameOf(const DataSheet& sheet, std::string_view name) { return PlainDeviceName(name, sheet.device.vendor); }

bool IsCalled(const DataSheet& sheet, std::string_view name) {
  const std::string wanted = NameOf(sheet, name);
  return NameOf(sheet, sheet.device.name) == wanted ||
         std::ranges::any_of(sheet.aliases, [&](const std::string& alias) { return NameOf(sheet, alias) == wanted; });
}

}  // namespace

std::string PlainDeviceName(std::string_view name, std::string_view maker) {
  const auto plain = [](std::string_view text) {
    std::string made;
    for (const char c : text) {
      const bool is_gap = c == ' ' || c == '-' || c == '_';
      if (!is_gap) made += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      if (is_gap && !made.empty() && made.back() != '-') made += '-';
    }
    while (made.ends_with('-')) made.pop_back();
    return made;
  };
  const std::string all = plain(name), first = plain(maker) + "-";
  return all.starts_with(first) ? all.substr(first.size()) : all;
}

const std::vector<DataSheet>& DataSheets() {
  static const std::vector<DataSheet> sheets = [] {
    const std::vector<std::vector<std::string>> rows = ReadCsv(DevicesCsv());
    std::vector<DataSheet> made;
    for (std::size_t i = 1; i < rows.size(); ++i) made.push_back(SheetFrom(Line(rows.front(), rows[i])));
    return made;
  }();
  return sheets;
}

const DataSheet* FindDataSheet(std::string_view name, std::string_view compute_capability,
                               std::string_view multiprocessors) {
  const auto agrees = [](const DataSheet& sheet, const char* part, std::string_view wanted) {
    const auto found = sheet.device.identity.find(part);
    return wanted.empty() || found == sheet.device.identity.end() || found->second == wanted;
  };
  for (const DataSheet& sheet : DataSheets()) {
    if (IsCalled(sheet, name) && agrees(sheet, "compute_capability", compute_capability) &&
        agrees(sheet, "multiprocessors", multiprocessors))
      return &sheet;
  }
  return nullptr;
}

std::vector<const DataSheet*> DataSheetsLike(std::string_view name) {
  std::vector<const DataSheet*> like;
  for (const DataSheet& sheet : DataSheets()) {
    const std::string wanted = NameOf(sheet, name);
    const auto has_all = [&](std::string_view known) {
      const std::string own = NameOf(sheet, known);
      const std::vector<std::string_view> words = Split(own, '-');
      // "sxm" is any of SXM2 to SXM5.
      const auto is_like = [](std::string_view word, std::string_view whole) {
        const auto is_number = [](unsigned char c) { return std::isdigit(c) != 0; };
        return whole == word || (std::ranges::none_of(word, is_number) && whole.starts_with(word) &&
                                 std::ranges::all_of(whole.substr(word.size()), is_number));
      };
      return std::ranges::all_of(Split(wanted, '-'), [&](std::string_view word) {
        return std::ranges::any_of(words, [&](std::string_view whole) { return is_like(word, whole); });
      });
    };
    if (!wanted.empty() && (has_all(sheet.device.name) || std::ranges::any_of(sheet.aliases, has_all)))
      like.push_back(&sheet);
  }
  return like;
}

const DataSheet* FindDataSheet(const Device& device) {
  const auto part = [&](const char* name) -> std::string_view {
    const auto found = device.identity.find(name);
    return found == device.identity.end() ? std::string_view() : std::string_view(found->second);
  };
  if (!part("data_sheet").empty())
    return FindDataSheet(part("data_sheet"), part("compute_capability"), part("multiprocessors"));
  return FindDataSheet(device.name, part("compute_capability"), part("multiprocessors"));
}

std::optional<std::int64_t> YearOfGeneration(std::string_view generation) {
  std::optional<std::int64_t> first;
  for (const DataSheet& sheet : DataSheets()) {
    const std::optional<std::int64_t> year = ParseInteger(sheet.year);
    if (sheet.device.generation == generation && year && (!first || *year < *first)) first = year;
  }
  return first;
}

const DataSheet* FindDataSheetByKey(const DeviceKey& device) {
  const std::vector<DataSheet>& sheets = DataSheets();
  const auto found = std::ranges::find_if(sheets, [&](const DataSheet& sheet) { return sheet.device.Key() == device; });
  return found == sheets.end() ? nullptr : &*found;
}

}  // namespace infimum
