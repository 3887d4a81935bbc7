#include "infimum/results/results_journal.h"

#include <istream>
#include <streambuf>

#include "infimum/base/text.h"
#include "src/core/results/record_json.h"

namespace infimum {
namespace {

// One line of a stream, with a limit that std::getline lacks.
struct Line {
  std::string text;
  bool ended = false;  // by a '\n'; the last line of a file may not be
};

// nullopt at the end of the input; an error where a line is too long or the input cannot be read.
Result<std::optional<Line>> NextLine(std::istream& input) {
  using Traits = std::istream::traits_type;
  Line line;
  std::streambuf* buffer = input.rdbuf();
  try {
    for (auto c = buffer->sbumpc(); !Traits::eq_int_type(c, Traits::eof()); c = buffer->sbumpc()) {
      if (Traits::to_char_type(c) == '\n') {
        line.ended = true;
        return std::optional<Line>(std::move(line));
      }
      if (line.text.size() == kMaxJournalLine) {
        return Error{"the line is longer than " + std::to_string(kMaxJournalLine >> 20) +
                     " MiB; this is no results journal"};
      }
      line.text += Traits::to_char_type(c);
    }
  } catch (const std::ios_base::failure& failure) {
    return Error{std::string("cannot be read: ") + failure.what()};
  }
  if (line.text.empty()) return std::optional<Line>();
  return std::optional<Line>(std::move(line));
}

class JournalReader {
 public:
  explicit JournalReader(const std::function<Status(ResultsRecord)>& take) : take_(take) {}

  Status Read(const Json& json) {
    if (!json.is_object()) return Error{"expected an object"};
    INFIMUM_ASSIGN_OR_RETURN(const std::string kind, TextField(json, "kind"));
    if (kind == "header") return ReadHeader(json);
    if (!device_) return Error{"a record of kind " + Quoted(kind) + " comes before any header"};
    if (kind == "measurement") return ReadMeasurement(json);
    if (kind == "peak") {
      INFIMUM_ASSIGN_OR_RETURN(const Json* object, ObjectField(json, "rate"));
      INFIMUM_ASSIGN_OR_RETURN(PeakRate rate, PeakFrom(*object));
      return take_(std::move(rate));
    }
    if (kind == "end") return {};
    constexpr std::string_view kKinds[] = {"header", "measurement", "peak", "end"};
    return Error{"unknown kind " + Quoted(kind) + DidYouMean(kind, kKinds)};
  }

 private:
  Status ReadHeader(const Json& json) {
    INFIMUM_ASSIGN_OR_RETURN(const std::int64_t version, VersionOf(json));
    INFIMUM_ASSIGN_OR_RETURN(ResultsHeader header, HeaderFrom(json, version));
    device_ = header.device.Key();
    environment_ = header.environment.Key();
    evidence_ = header.environment.Told();
    return take_(std::move(header));
  }

  Status ReadMeasurement(const Json& json) {
    INFIMUM_ASSIGN_OR_RETURN(Measurement row, FactsFrom(json));
    if (const Json* const repetitions = FindMember(json, "repetitions"))
      INFIMUM_RETURN_IF_ERROR(FromJson(*repetitions, "repetitions", row.repetitions));
    INFIMUM_RETURN_IF_ERROR(CheckRepetitions(row));
    row.device = *device_;
    row.environment = environment_;
    row.evidence = evidence_;
    return take_(std::move(row));
  }

  const std::function<Status(ResultsRecord)>& take_;
  std::optional<DeviceKey> device_;
  EnvironmentKey environment_;
  EvidenceText evidence_;
};

// A record's fields behind those that say which it is.
OrderedJson Record(OrderedJson kind, OrderedJson fields) {
  kind.update(fields);
  return kind;
}

struct RecordFormatter {
  std::string operator()(const ResultsHeader& header) const {
    return DumpJson(Record({{"schema", SchemaName()}, {"kind", "header"}}, ToJson(header)));
  }
  std::string operator()(const Measurement& row) const {
    return DumpJson(Record({{"kind", "measurement"}}, ToJson(row)));
  }
  std::string operator()(const PeakRate& rate) const {
    return DumpJson(OrderedJson{{"kind", "peak"}, {"rate", ToJson(rate)}});
  }
};

}  // namespace

std::string FormatRecord(const ResultsRecord& record) { return std::visit(RecordFormatter{}, record); }

std::string FormatEnd(std::int64_t rows) { return DumpJson(OrderedJson{{"kind", "end"}, {"rows", rows}}); }

Status ReadJournal(std::istream& input, std::string_view origin, const std::function<Status(ResultsRecord)>& take) {
  JournalReader reader(take);
  for (std::int64_t number = 1;; ++number) {
    const std::string where = std::string(origin) + ":" + std::to_string(number);
    const Result<std::optional<Line>> line = NextLine(input);
    if (!line.ok()) return Within(where, line.error());
    if (!*line) return {};
    if (TrimSpace((*line)->text).empty()) continue;
    const Result<Json> json = ParseJson((*line)->text);
    if (!json.ok()) {
      // The writer was killed in the middle of it.
      if (!(*line)->ended) return {};
      return Error{where + ":" + json.error().message + "; remove the line or restore the file"};
    }
    if (const Status status = reader.Read(*json); !status.ok()) return Within(where, status.error());
  }
}

}  // namespace infimum
