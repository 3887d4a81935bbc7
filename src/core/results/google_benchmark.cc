#include <algorithm>
#include <istream>
#include <optional>

#include "infimum/base/text.h"
#include "src/core/results/record_json.h"

namespace infimum {
namespace {

// --- writing ---

OrderedJson Facts(const Measurement& row) {
  JsonWriter<OrderedJson> writer;
  VisitFacts(writer, row);
  return std::move(writer.object);
}

std::string EntryName(const Measurement& row) {
  // compare.py pairs entries by name, so it must tell apart whatever is measured apart.
  std::string name = row.workload.text + " candidate=" + row.candidate.name();
  for (const auto& [key, layout] : {std::pair("input_layout", &row.candidate.input_layout),
                                    std::pair("output_layout", &row.candidate.output_layout)}) {
    if (!layout->empty() && *layout != "any") name += std::string(" ") + key + "=" + *layout;
  }
  name += " contract=" + std::string(Name(row.contract)) + " cache=" + std::string(Name(row.cache));
  return name;
}

class Writer {
 public:
  OrderedJson Document(const std::vector<ResultsRecord>& records) {
    for (const ResultsRecord& record : records) std::visit([this](const auto& value) { Add(value); }, record);
    OrderedJson context = OrderedJson::object();
    if (!date_.empty()) context["date"] = date_;
    if (last_header_) {
      context["executable"] = "infimum-microbench-" + last_header_->backend;
      context["num_cpus"] = last_header_->device.cores;
    }
    context["infimum"] = {{"schema", SchemaName()}, {"headers", std::move(headers_)}};
    return {{"context", std::move(context)}, {"benchmarks", std::move(benchmarks_)}};
  }

 private:
  void Add(const ResultsHeader& header) {
    headers_.push_back(ToJson(header));
    headers_.back()["peaks"] = OrderedJson::array();
    last_header_ = header;
  }

  void Add(const PeakRate& rate) {
    INFIMUM_CHECK(last_header_.has_value(), "a peak comes after its header");
    headers_.back()["peaks"].push_back(ToJson(rate));
  }

  void Add(const Measurement& row) {
    INFIMUM_CHECK(last_header_.has_value(), "a row comes after its header");
    date_ = std::max(date_, row.measured_at);
    const OrderedJson facts = Facts(row);
    if (row.repetitions.empty()) {
      OrderedJson& entry = AddEntry(row, 1, 0, 0, 0);
      entry["error_occurred"] = true;
      entry["error_message"] = std::string(Name(row.outcome)) + ": " + row.reason;
      entry["infimum"] = {{"header", headers_.size() - 1}, {"row", rows_}, {"facts", facts}};
    }
    for (std::size_t i = 0; i < row.repetitions.size(); ++i) {
      const Repetition& repetition = row.repetitions[i];
      OrderedJson& entry = AddEntry(row, row.repetitions.size(), i, repetition.count, repetition.median.count());
      entry["infimum"] = {
          {"header", headers_.size() - 1}, {"row", rows_}, {"facts", facts}, {"repetition", ToJson(repetition)}};
    }
    ++rows_;
  }

  OrderedJson& AddEntry(const Measurement& row, std::size_t repetitions, std::size_t index, std::int64_t iterations,
                        double time_us) {
    const std::string name = EntryName(row);
    benchmarks_.push_back({{"name", name},
                           {"family_index", rows_},
                           {"per_family_instance_index", 0},
                           {"run_name", name},
                           {"run_type", "iteration"},
                           {"repetitions", repetitions},
                           {"repetition_index", index},
                           {"threads", last_header_->environment.threads},
                           {"iterations", iterations},
                           {"real_time", time_us},
                           {"cpu_time", time_us},
                           {"time_unit", "us"},
                           {"label", row.workload.text}});
    return benchmarks_.back();
  }

  OrderedJson headers_ = OrderedJson::array();
  OrderedJson benchmarks_ = OrderedJson::array();
  std::optional<ResultsHeader> last_header_;
  std::string date_;
  std::int64_t rows_ = 0;
};

// --- reading ---

Result<std::string> ReadAll(std::istream& input) {
  std::string text;
  std::string block(std::size_t{1} << 16, '\0');
  while (true) {
    std::streamsize count = 0;
    try {
      count = input.rdbuf()->sgetn(block.data(), static_cast<std::streamsize>(block.size()));
    } catch (const std::ios_base::failure& failure) {
      return Error{std::string("cannot be read: ") + failure.what()};
    }
    if (count <= 0) return text;
    text.append(block, 0, static_cast<std::size_t>(count));
    if (text.size() > kMaxGoogleBenchmarkSize) {
      return Error{"Google Benchmark JSON of more than " + std::to_string(kMaxGoogleBenchmarkSize >> 20) +
                   " MiB is not read; import the runner's journal (.jsonl) instead"};
    }
  }
}

// "line:column" of a byte, both from 1.
std::string PlaceOf(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, byte > 0 ? byte - 1 : 0);
  const auto line = std::ranges::count(before, '\n') + 1;
  const std::size_t line_begin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return std::to_string(line) + ":" + std::to_string(before.size() - line_begin + 1);
}

class Reader {
 public:
  explicit Reader(const std::function<Status(ResultsRecord)>& take) : take_(take) {}

  Status Read(const Json& document) {
    const Json* context = FindMember(document, "context");
    const Json* ours = context == nullptr ? nullptr : FindMember(*context, "infimum");
    if (ours == nullptr) {
      return Error{"has no 'context.infimum': only Google Benchmark JSON that infimum wrote can be read"};
    }
    INFIMUM_ASSIGN_OR_RETURN(version_, VersionOf(*ours));
    INFIMUM_ASSIGN_OR_RETURN(headers_, ArrayField(*ours, "headers"));
    INFIMUM_ASSIGN_OR_RETURN(const Json* benchmarks, ArrayField(document, "benchmarks"));
    for (std::size_t i = 0; i < benchmarks->size(); ++i) INFIMUM_RETURN_IF_ERROR(ReadEntry((*benchmarks)[i], i));
    INFIMUM_RETURN_IF_ERROR(HandOnRow());
    return HandOnHeaders(headers_->size());
  }

 private:
  // One entry's share of a row: all of the row, or one more repetition of it.
  struct Entry {
    std::size_t header = 0;
    std::int64_t row = 0;
    const Json* facts = nullptr;
    std::optional<Repetition> repetition;
  };

  static Error At(std::size_t entry, Error error) {
    return Within("benchmarks[" + std::to_string(entry) + "]", std::move(error));
  }

  Result<Entry> ParseEntry(const Json& json) const {
    Entry entry;
    INFIMUM_ASSIGN_OR_RETURN(const Json* ours, ObjectField(json, "infimum"));
    INFIMUM_ASSIGN_OR_RETURN(const std::int64_t header, FieldOf<std::int64_t>(*ours, "header"));
    if (header >= static_cast<std::int64_t>(headers_->size())) {
      return Error{"'header' is " + std::to_string(header) + ", but there are " + std::to_string(headers_->size())};
    }
    entry.header = static_cast<std::size_t>(header);
    INFIMUM_ASSIGN_OR_RETURN(entry.row, FieldOf<std::int64_t>(*ours, "row"));
    INFIMUM_ASSIGN_OR_RETURN(entry.facts, ObjectField(*ours, "facts"));
    if (const Json* repetition = FindMember(*ours, "repetition")) {
      INFIMUM_RETURN_IF_ERROR(FromJson(*repetition, "repetition", entry.repetition));
      INFIMUM_RETURN_IF_ERROR(Check(*entry.repetition));
    }
    return entry;
  }

  Status ReadEntry(const Json& json, std::size_t index) {
    Result<Entry> entry = ParseEntry(json);
    if (!entry.ok()) return At(index, entry.error());
    if (!row_ || entry->row != first_.row || entry->header != first_.header) {
      INFIMUM_RETURN_IF_ERROR(HandOnRow());
      INFIMUM_RETURN_IF_ERROR(HandOnHeaders(entry->header + 1));
      INFIMUM_RETURN_IF_ERROR(Return(entry->header));
      Result<Measurement> row = FactsFrom(*entry->facts);
      if (!row.ok()) return At(index, row.error());
      row_ = std::move(*row);
      first_ = *entry;
      first_index_ = index;
    } else if (*entry->facts != *first_.facts) {
      return At(index, Error{"'facts' differ from those of the row's first repetition"});
    }
    if (entry->repetition) row_->repetitions.push_back(std::move(*entry->repetition));
    return {};
  }

  // The row that was collected so far, now that another one begins.
  Status HandOnRow() {
    if (!row_) return {};
    if (const Status status = CheckRepetitions(*row_); !status.ok()) return At(first_index_, status.error());
    row_->device = device_;
    row_->environment = environment_;
    row_->evidence = evidence_;
    Measurement row = std::move(*row_);
    row_.reset();
    return take_(std::move(row));
  }

  // Headers before `end` that were not handed on yet, each with its peaks.
  Status HandOnHeaders(std::size_t end) {
    for (; next_header_ < end; ++next_header_) {
      const std::string where = "context.infimum.headers[" + std::to_string(next_header_) + "]";
      if (const Status status = HandOnHeader((*headers_)[next_header_]); !status.ok()) {
        return Within(where, status.error());
      }
      current_header_ = next_header_;
    }
    return {};
  }

  Status HandOnHeader(const Json& json) {
    INFIMUM_RETURN_IF_ERROR(TakeHeader(json));
    INFIMUM_ASSIGN_OR_RETURN(const Json* peaks, ArrayField(json, "peaks"));
    for (const Json& peak : *peaks) {
      INFIMUM_ASSIGN_OR_RETURN(PeakRate rate, PeakFrom(peak));
      INFIMUM_RETURN_IF_ERROR(take_(std::move(rate)));
    }
    return {};
  }

  // Rows of an earlier header again, as a file that was sorted has them.
  Status Return(std::size_t header) {
    if (header == current_header_) return {};
    current_header_ = header;
    return TakeHeader((*headers_)[header]);
  }

  Status TakeHeader(const Json& json) {
    INFIMUM_ASSIGN_OR_RETURN(ResultsHeader header, HeaderFrom(json, version_));
    device_ = header.device.Key();
    environment_ = header.environment.Key();
    evidence_ = header.environment.Told();
    return take_(std::move(header));
  }

  const std::function<Status(ResultsRecord)>& take_;
  std::int64_t version_ = kResultsVersion;
  const Json* headers_ = nullptr;
  std::size_t next_header_ = 0;
  std::optional<std::size_t> current_header_;
  DeviceKey device_;
  EnvironmentKey environment_;
  EvidenceText evidence_;

  std::optional<Measurement> row_;  // being collected from its repetitions' entries
  Entry first_;                     // of that row
  std::size_t first_index_ = 0;
};

}  // namespace

std::string FormatGoogleBenchmark(const std::vector<ResultsRecord>& records) {
  return DumpJson(Writer().Document(records), 2) + "\n";
}

Status ReadGoogleBenchmark(std::istream& input, std::string_view origin,
                           const std::function<Status(ResultsRecord)>& take) {
  const Result<std::string> text = ReadAll(input);
  if (!text.ok()) return Within(std::string(origin), text.error());
  const Result<Json> document = ParseJson(*text);
  if (!document.ok()) {
    // "17: not valid JSON", the number a byte.
    const std::string& message = document.error().message;
    const std::size_t colon = message.find(':');
    const std::int64_t byte = ParseInteger(message.substr(0, colon)).value_or(1);
    return Error{std::string(origin) + ":" + PlaceOf(*text, static_cast<std::size_t>(byte)) + message.substr(colon)};
  }
  return Within(std::string(origin), Reader(take).Read(*document));
}

}  // namespace infimum
