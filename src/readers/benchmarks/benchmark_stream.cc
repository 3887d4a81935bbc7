#include "src/readers/benchmarks/benchmark_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <istream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "infimum/base/text.h"
#include "infimum/measurement/older_identity.h"

namespace infimum::ingest {
namespace {

using Json = nlohmann::json;

constexpr int kMaxDepth = 64;
constexpr std::size_t kMaxFactLength = 200;

// Where the parser is in the file.
struct Position {
  std::streambuf* bytes = nullptr;
  std::size_t line = 1;
  std::size_t column = 0;  // in bytes
  std::size_t since_event = 0;
  ControlCharacters controls;

  bool AtLimit() const { return since_event > kMaxBenchmarkToken; }
  bool AtEnd() const {
    return AtLimit() || std::streambuf::traits_type::eq_int_type(bytes->sgetc(), std::streambuf::traits_type::eof());
  }
};

// Counts lines on the way, and ends where a token grows beyond all measure: the parser would collect it in memory.
// Knows texts from the rest, to give spaces for the control characters in them: JSON has none there, but programs that
// put another's message into a text without escaping it do.
class ByteIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  ByteIterator() = default;
  explicit ByteIterator(Position& position) : position_(&position) {}

  char operator*() const { return in_text_ && IsControl(Raw()) ? ' ' : Raw(); }
  ByteIterator& operator++() {
    const bool line_ends = position_->column > 0 && last_ == '\n';
    last_ = Raw();
    position_->bytes->sbumpc();
    ++position_->since_event;
    position_->line += line_ends ? 1 : 0;
    position_->column = line_ends ? 1 : position_->column + 1;
    FollowText();
    return *this;
  }
  void operator++(int) { ++*this; }
  // Only asked of a position against the end.
  friend bool operator==(const ByteIterator& a, const ByteIterator& b) { return a.AtEnd() == b.AtEnd(); }
  friend bool operator!=(const ByteIterator& a, const ByteIterator& b) { return !(a == b); }

 private:
  static bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20; }
  char Raw() const { return std::streambuf::traits_type::to_char_type(position_->bytes->sgetc()); }
  bool AtEnd() const { return position_ == nullptr || position_->AtEnd(); }

  // Whether the next byte is within a text.
  void FollowText() {
    if (!in_text_) {
      in_text_ = last_ == '"';
      return;
    }
    if (IsControl(last_)) {
      ControlCharacters& controls = position_->controls;
      if (controls.count++ == 0) controls.line = position_->line, controls.column = position_->column;
    }
    if (escaped_) {
      escaped_ = false;
    } else if (last_ == '\\') {
      escaped_ = true;
    } else {
      in_text_ = last_ != '"';
    }
  }

  Position* position_ = nullptr;
  char last_ = 0;
  bool in_text_ = false;
  bool escaped_ = false;  // by the last byte
};

// The parser's own words without its place, which counts differently, and without what it read last, which may be long.
std::string CauseOf(std::string_view words) {
  if (const std::size_t place = words.find("column "); place != std::string_view::npos) {
    if (const std::size_t colon = words.find(": ", place); colon != std::string_view::npos)
      words.remove_prefix(colon + 2);
  }
  constexpr std::size_t kMostWords = 200;
  return std::string(words.substr(0, std::min(words.find("; last read"), kMostWords)));
}

class Handler final : public nlohmann::json_sax<Json> {
 public:
  Handler(Position& position, const WantedFields& wanted, const std::function<Status(const BenchmarkEntry&)>& take)
      : position_(position), wanted_(wanted), take_(take) {}

  bool null() override {
    return Value("null", [](std::string_view) { return false; });
  }
  bool boolean(bool value) override {
    return Value("a truth value", [&](std::string_view name) {
      if (!InEntry()) return false;
      if (name == "error_occurred") return entry_.failed = value, true;
      if (name == "skipped") return entry_.skipped = value, true;
      return false;
    });
  }
  bool number_integer(std::int64_t value) override { return Number(static_cast<double>(value)); }
  bool number_unsigned(std::uint64_t value) override { return Number(static_cast<double>(value)); }
  bool number_float(double value, const std::string&) override { return Number(value); }
  bool string(std::string& value) override {
    return Value("a text", [&](std::string_view name) {
      std::string* field = InEntry() ? EntryText(name) : InContext() ? ContextText(name) : nullptr;
      if (InCache() && name == "type") field = &cache_type_;
      if (field == nullptr) return false;
      *field = std::move(value);
      return true;
    });
  }
  bool binary(Json::binary_t&) override { return true; }  // JSON has none

  bool start_object(std::size_t) override {
    if (!Open()) return false;
    if (depth_ == 2) section_ = key_ == "context" ? Section::kContext : Section::kOther;
    if (section_ == Section::kBenchmarks && depth_ == 3) {
      entry_ = BenchmarkEntry();
      entry_.index = entries_++;
      entry_.line = position_.line;
    }
    if (InCache()) {
      cache_type_.clear();
      cache_level_ = cache_size_ = 0;
    }
    key_.clear();
    return true;
  }
  bool end_object() override {
    position_.since_event = 0;
    if (InCache()) KeepCache();
    if (InEntry()) {
      if (Status status = take_(entry_); !status.ok()) return error_ = status.error(), false;
    }
    return Close();
  }
  bool start_array(std::size_t) override {
    if (depth_ == 0) return Fail("expected a JSON object with 'context' and 'benchmarks', not a list");
    if (section_ == Section::kBenchmarks && depth_ == 2) return Fail(NoObject());
    if (!Open()) return false;
    if (depth_ == 2) {
      section_ = key_ == "benchmarks" ? Section::kBenchmarks : Section::kOther;
      has_benchmarks_ = has_benchmarks_ || section_ == Section::kBenchmarks;
    }
    if (depth_ == 3) in_caches_ = section_ == Section::kContext && key_ == "caches";
    return true;
  }
  bool end_array() override {
    position_.since_event = 0;
    return Close();
  }
  bool key(std::string& name) override {
    position_.since_event = 0;
    key_ = std::move(name);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
    if (position_.AtLimit()) return Fail(fmt::format("a text of more than {} bytes", kMaxBenchmarkToken));
    const bool cut = position_.AtEnd();
    return Fail(fmt::format("not valid JSON: {}{}", CauseOf(error.what()), cut ? "; is the file cut off?" : ""));
  }

  const std::optional<Error>& error() const { return error_; }
  bool FailedInText() const { return failed_in_text_; }  // else in `take`
  bool HasBenchmarks() const { return has_benchmarks_; }
  BenchmarkContext TakeContext() { return std::move(context_); }

 private:
  enum class Section { kOther, kContext, kBenchmarks };

  bool InEntry() const { return section_ == Section::kBenchmarks && depth_ == 3; }
  bool InContext() const { return section_ == Section::kContext && depth_ == 2; }
  bool InCache() const { return section_ == Section::kContext && depth_ == 4 && in_caches_; }

  bool Fail(std::string message) {
    failed_in_text_ = true;
    error_ = Error{std::move(message)};
    return false;
  }
  std::string NoObject() const { return fmt::format("benchmarks[{}] is not an object", entries_); }

  bool Open() {
    position_.since_event = 0;
    if (++depth_ > kMaxDepth) return Fail(fmt::format("nested more than {} deep", kMaxDepth));
    return true;
  }
  bool Close() {
    --depth_;
    if (depth_ == 1) section_ = Section::kOther;
    if (depth_ == 2) in_caches_ = false;
    return true;
  }

  // `keep` returns whether it knows a field of this name and type.
  template <class Keep>
  bool Value(std::string_view type, const Keep& keep) {
    position_.since_event = 0;
    if (depth_ == 0) return Fail("expected a JSON object with 'context' and 'benchmarks'");
    if (section_ == Section::kBenchmarks && depth_ == 2) return Fail(NoObject());
    if (keep(key_)) return true;
    if (InEntry() && type != "null" && IsNeeded(key_)) return Fail(fmt::format("'{}' is {}", key_, type));
    return true;
  }
  // Fields whose wrong type would otherwise look like their absence.
  static bool IsNeeded(std::string_view name) {
    constexpr std::string_view kNeeded[] = {"name",    "label",     "run_type",   "time_unit", "error_message",
                                            "skipped", "real_time", "iterations", "threads",   "error_occurred"};
    return std::ranges::find(kNeeded, name) != std::end(kNeeded);
  }

  bool Number(double value) {
    return Value("a number", [&](std::string_view name) {
      if (InCache() && name == "level") return cache_level_ = value, true;
      if (InCache() && name == "size") return cache_size_ = value, true;
      if (InContext() && name == "num_cpus") return context_.cpus = value, true;
      if (InContext() && name == "mhz_per_cpu") return context_.megahertz = value, true;
      if (!InEntry()) return false;
      if (name == "real_time") return entry_.real_time = value, true;
      if (name == "iterations") return entry_.iterations = value, true;
      if (name == "threads") return entry_.threads = value, true;
      if (std::ranges::find(wanted_.counters, name) != wanted_.counters.end()) {
        entry_.counters[std::string(name)] = value;
      } else if (const std::size_t colon = name.find(':'); colon != std::string_view::npos) {
        const std::string_view fact = name.substr(0, colon);
        if (std::ranges::find(wanted_.facts, fact) != wanted_.facts.end() && name.size() <= kMaxFactLength)
          entry_.facts[std::string(fact)] = name.substr(colon + 1);
      }
      return !IsNeeded(name);
    });
  }

  std::string* EntryText(std::string_view name) {
    if (name == "name") return &entry_.name;
    if (name == "label") return &entry_.label;
    if (name == "run_type") return &entry_.run_type;
    if (name == "time_unit") return &entry_.time_unit;
    if (name == "error_message" || name == "skip_message") return &entry_.message;
    return nullptr;
  }
  std::string* ContextText(std::string_view name) {
    if (name == "date") return &context_.date;
    if (name == "executable") return &context_.executable;
    if (name == "infimum_device") return &context_.infimum_device;
    if (name == "infimum_schema") return &context_.infimum_schema;
    if (name == "infimum_libraries") return &context_.infimum_libraries;
    if (name == "infimum_threads") return &context_.infimum_threads;
    if (name == "infimum_affinity") return &context_.infimum_affinity;
    return nullptr;
  }

  void KeepCache() {
    const bool is_cache = cache_type_ == "Data" || cache_type_ == "Unified";
    if (!is_cache || !(cache_level_ >= 1 && cache_level_ <= 9) || !(cache_size_ > 0 && cache_size_ < 1e15)) return;
    context_.caches[fmt::format("l{:.0f}", cache_level_)] = fmt::format("{:.0f}", cache_size_);
  }

  Position& position_;
  const WantedFields& wanted_;
  const std::function<Status(const BenchmarkEntry&)>& take_;

  int depth_ = 0;
  Section section_ = Section::kOther;
  bool in_caches_ = false;
  bool has_benchmarks_ = false;
  std::string key_;  // of the value that comes next
  std::size_t entries_ = 0;
  BenchmarkEntry entry_;
  BenchmarkContext context_;
  std::string cache_type_;
  double cache_level_ = 0, cache_size_ = 0;
  std::optional<Error> error_;
  bool failed_in_text_ = false;
};

}  // namespace

Result<BenchmarkContext> StreamBenchmarks(std::istream& input, std::string_view origin, const WantedFields& wanted,
                                          const std::function<Status(const BenchmarkEntry&)>& take) {
  Position position;
  position.bytes = input.rdbuf();
  Handler handler(position, wanted, take);
  try {
    Json::sax_parse(ByteIterator(position), ByteIterator(), &handler);
  } catch (const std::exception& error) {
    return Error{fmt::format("{}: cannot be read: {}", origin, error.what())};
  }
  if (handler.error() && handler.FailedInText())
    return Within(fmt::format("{}:{}:{}", origin, position.line, std::max<std::size_t>(position.column, 1)),
                  *handler.error());
  if (handler.error()) return *handler.error();
  if (!handler.HasBenchmarks()) return Error{fmt::format("{}: has no list 'benchmarks'", origin)};
  BenchmarkContext context = handler.TakeContext();
  context.controls = position.controls;
  return context;
}

namespace {

constexpr std::array<std::string_view, 6> kFacts = {"gpu_name",       "compute_capability",  "cudnn_version",
                                                    "cublas_version", "cuda_driver_version", "cuda_runtime_version"};

// CUDA's versions were printed as 1000 major + 10 minor, taken apart wrongly: "10.10" is 10.1.
std::string CudaVersion(std::string version) {
  const std::size_t dot = version.find('.');
  if (dot != std::string::npos && version.size() == dot + 3 && version.back() == '0') version.pop_back();
  return version;
}

Device UnnamedProcessor(const BenchmarkContext& context) {
  Device device;
  device.vendor = "unknown";
  device.name = "unnamed processor";
  device.identity.insert(context.caches.begin(), context.caches.end());
  if (context.cpus && *context.cpus >= 1 && *context.cpus < 1e6) {
    device.cores = static_cast<std::int64_t>(*context.cpus);
    device.identity["cores"] = std::to_string(device.cores);
  }
  if (context.megahertz && *context.megahertz > 0 && *context.megahertz < 1e6)
    device.identity["clock"] = fmt::format("{:.0f}MHz", *context.megahertz);
  return device;
}

// Digits at `at` of a text that has the form of a date, so that they are there.
int Digits(std::string_view text, std::size_t at, std::size_t count) {
  int value = 0;
  for (std::size_t i = at; i < at + count; ++i) value = value * 10 + (text[i] - '0');
  return value;
}

bool HasForm(std::string_view text, std::string_view form) {
  if (text.size() != form.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    const bool fits = form[i] == 'd' ? digit : form[i] == 'T' ? text[i] == 'T' || text[i] == ' ' : text[i] == form[i];
    if (!fits) return false;
  }
  return true;
}

// "Z", "+02:00", or nothing.
std::optional<std::chrono::minutes> OffsetOf(std::string_view text) {
  if (text.empty() || text == "Z") return std::chrono::minutes(0);
  if (!HasForm(text.substr(1), "dd:dd") || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  const std::chrono::minutes offset(Digits(text, 1, 2) * 60 + Digits(text, 4, 2));
  return text[0] == '-' ? -offset : offset;
}

std::optional<std::string> UtcOf(std::string_view text) {
  using std::chrono::year, std::chrono::month, std::chrono::day;
  constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:dd";
  if (text.size() < kForm.size() || !HasForm(text.substr(0, kForm.size()), kForm)) return std::nullopt;
  const std::optional<std::chrono::minutes> offset = OffsetOf(text.substr(kForm.size()));
  const std::chrono::year_month_day date(year(Digits(text, 0, 4)), month(static_cast<unsigned>(Digits(text, 5, 2))),
                                         day(static_cast<unsigned>(Digits(text, 8, 2))));
  const int hour = Digits(text, 11, 2), minute = Digits(text, 14, 2), second = Digits(text, 17, 2);
  if (!offset || !date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  if (Digits(text, 0, 4) < 1970) return std::nullopt;  // a clock that was not set
  const auto time = std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) - *offset;
  const auto midnight = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day utc(midnight);
  const auto minutes = (time - midnight).count();
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(utc.year()),
                     static_cast<unsigned>(utc.month()), static_cast<unsigned>(utc.day()), minutes / 60, minutes % 60,
                     second);
}

}  // namespace

std::span<const std::string_view> FactNames() { return kFacts; }

Status AddFacts(const Facts& entry, Facts& file) {
  for (const auto& [name, value] : entry) {
    const auto [known, added] = file.emplace(name, value);
    if (!added && known->second != value) {
      return Error{fmt::format("'{}' is {}, but {} in earlier entries: a file must come from one system; split it",
                               name, Quoted(value), Quoted(known->second))};
    }
  }
  return {};
}

bool IsDeviceKnown(const Facts& facts, const BenchmarkContext& context) {
  return facts.contains("gpu_name") || !context.infimum_device.empty();
}

Result<Device> DeviceOf(const Facts& facts, const BenchmarkContext& context) {
  if (const auto name = facts.find("gpu_name"); name != facts.end()) {
    const auto capability = facts.find("compute_capability");
    if (name->second.empty() || capability == facts.end() || capability->second.empty())
      return Error{"entries name a GPU but not its 'compute_capability:', so the device is not known"};
    Device device;
    device.kind = DeviceKind::kGpu;
    device.name = name->second;
    device.vendor = "NVIDIA";
    device.generation = GenerationOf(capability->second);
    device.identity = {{"name", name->second}, {"compute_capability", capability->second}};
    return device;
  }
  if (!context.infimum_device.empty()) {
    if (const std::optional<Device> device = Device::OfKey(context.infimum_device)) return WithoutClocks(*device);
    return Error{fmt::format("context.infimum_device is {}, expected a key that 'infimum devices' lists",
                             Quoted(context.infimum_device))};
  }
  return UnnamedProcessor(context);
}

std::string_view GenerationOf(std::string_view compute_capability) {
  const std::size_t dot = compute_capability.find('.');
  const std::int64_t major = ParseInteger(compute_capability.substr(0, dot)).value_or(0);
  const std::int64_t minor =
      dot == std::string_view::npos ? 0 : ParseInteger(compute_capability.substr(dot + 1)).value_or(0);
  if (major == 7) return minor >= 5 ? "Turing" : "Volta";
  if (major == 8) return minor >= 9 ? "Ada" : "Ampere";
  if (major >= 10 && major <= 12) return "Blackwell";
  return major == 3 ? "Kepler" : major == 5 ? "Maxwell" : major == 6 ? "Pascal" : major == 9 ? "Hopper" : "";
}

Environment EnvironmentOf(const Facts& facts) {
  Environment environment;
  const auto add = [&](const char* fact, const char* library, bool is_cuda) {
    const auto found = facts.find(fact);
    if (found == facts.end() || found->second.empty()) return;
    environment.libraries[library] = is_cuda ? CudaVersion(found->second) : found->second;
  };
  add("cudnn_version", "cudnn", false);
  add("cublas_version", "cublas", false);
  // The source swapped these two names.
  add("cuda_driver_version", "cuda_runtime", true);
  add("cuda_runtime_version", "cuda_driver", true);
  return environment;
}

Result<std::string> MeasuredAt(const BenchmarkContext& context) {
  if (std::optional<std::string> time = UtcOf(context.date)) return *std::move(time);
  return Error{fmt::format("context.date is {}, expected a time like '2019-10-06 14:50:20'", Quoted(context.date))};
}

}  // namespace infimum::ingest
