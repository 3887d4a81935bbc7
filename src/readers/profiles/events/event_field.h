// A field that a reader needs from each event, as a token of the window. Its type is checked when it is read, so that
// fields of ignored events may contain anything.
//
//   EventField name("name", oddities), start("ts", oddities), stream("stream", oddities);
//   FieldSet wanted{&name, &start, &stream};
//   wanted.Clear();
//   ReadFields(event.object, wanted);                                            // goes through all of the event
//   INFIMUM_ASSIGN_OR_RETURN(const std::int64_t time, start.NeededNanoseconds());  // else the event is skipped
//   const std::optional<std::int64_t> number = stream.Integer();                 // "0x1f": 31; [7]: none; both are odd
//
// A field that an event can do without is read as far as possible: what cannot be read is as if it were absent, and
// counted in the oddities. A number within quotes is one, and counted too. null is a wrong type.
#pragma once

#include <simdjson.h>

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/base/result.h"
#include "src/core/graph/name_table.h"
#include "src/core/results/json_struct.h"
#include "src/readers/files/oddities.h"

namespace infimum::ingest {

// Numbers and texts of a trace's events as simdjson finds them in the file, without a copy and without a double.

// The key of a field as written in the file (known keys have no escapes).
std::string_view KeyOf(simdjson::ondemand::field& field);

// A value's text in the file: of a string with its quotes, of an object or list its first character.
std::string_view TokenOf(simdjson::ondemand::value& value);

// The text within a string's quotes, or all of it without quotes.
std::string_view Unquoted(std::string_view token);

// Microseconds as nanoseconds, exactly: "1419247333291.708" -> 1419247333291708, also within quotes. Digits past the
// nanosecond are cut. nullopt: not a number, or one of more than 95 years.
std::optional<std::int64_t> NanosecondsOf(std::string_view token);

// A whole number, also within quotes, there in hexadecimal too, or with a fraction of zeros ("25738", "0x1f", 7.0).
std::optional<std::int64_t> IntegerOf(std::string_view token);

// The escapes of a string, given its token too, resolved into `scratch` where it has any.
enum class Escapes : std::uint8_t { kNone, kResolved, kWrong };
Escapes ResolveEscapes(simdjson::ondemand::value& value, std::string_view token, std::string& scratch);

// The whole text of a list, without blanks at its end; left as it was where it is none.
simdjson::error_code WholeOf(simdjson::ondemand::value& value, std::optional<std::string_view>& text);

class EventField {
 public:
  EventField(std::string_view name, Oddities& oddities) : name_(name), oddities_(oddities) {}
  EventField(const EventField&) = delete;
  EventField& operator=(const EventField&) = delete;

  std::string_view name() const { return name_; }
  void Clear() { token_ = {}; }
  // Goes through lists, not through objects, which are read by ReadFields.
  simdjson::error_code Set(simdjson::ondemand::value& value);

  // What follows is valid until the next event.
  bool absent() const { return token_.empty(); }
  bool is_text() const { return token_.starts_with('"'); }
  bool is_list() const { return token_.starts_with('['); }
  // The text in the file, of a list all of it: "[[1, 64], []]", "\"a\"", "17".
  std::string_view token() const { return token_; }

  // Empty where it is absent. A text with an invalid escape ("\ud800") stays as written in the file, and is odd.
  std::string_view Text() const;
  std::optional<std::int64_t> Integer(std::int64_t least = INT64_MIN, std::int64_t most = INT64_MAX) const;

  // What an event cannot do without: an error with the name where it is absent or something else.
  Result<std::string_view> NeededText() const;
  Result<std::int64_t> NeededInteger(std::int64_t least, std::int64_t most) const;
  // Microseconds as nanoseconds.
  Result<std::int64_t> NeededNanoseconds(std::int64_t least = 0) const;

 private:
  Error Missing() const;
  Error WrongType(std::string_view wanted) const;
  void NoteQuoted() const;

  std::string_view name_;
  Oddities& oddities_;
  std::string_view token_;
  Escapes escapes_ = Escapes::kNone;  // of a text
  std::string scratch_;               // the text with its escapes resolved
};

// The fields that a reader needs from an object. Most keys of a trace are other ones, so they are distinguished by
// their length first.
class FieldSet {
 public:
  FieldSet() = default;
  FieldSet(std::initializer_list<EventField*> fields);

  void Clear() const {
    for (EventField* const field : fields_) field->Clear();
  }
  // nullptr: not wanted.
  EventField* Find(std::string_view key) const {
    if (key.size() > kLongestName) return nullptr;
    for (std::size_t i = first_[key.size()]; i < first_[key.size() + 1]; ++i)
      if (IsSame(fields_[i]->name().data(), key.data(), key.size())) return fields_[i];
    return nullptr;
  }

 private:
  static constexpr std::size_t kLongestName = 31;

  // Names are short and seldom end alike: a call of memcmp would take longer.
  static bool IsSame(const char* a, const char* b, std::size_t size) {
    while (size > 0 && a[size - 1] == b[size - 1]) --size;
    return size == 0;
  }

  std::vector<EventField*> fields_;                     // by the length of their names
  std::array<std::uint8_t, kLongestName + 2> first_{};  // of each length, and of the next
};

using TakeField = std::function<simdjson::error_code(std::string_view key, simdjson::ondemand::value& value)>;

// Reads the wanted fields of an object; the others go to `other`, where there is one.
simdjson::error_code ReadFields(simdjson::ondemand::object& object, const FieldSet& wanted,
                                const TakeField& other = nullptr);

// As above, of a value that may be no object: then nothing is there.
simdjson::error_code ReadFields(simdjson::ondemand::value& value, const FieldSet& wanted,
                                const TakeField& other = nullptr);

// A process or thread: its number, or of one that has a name instead a negative number that is its own.
std::int64_t NumberOrName(std::string_view token, NameTable& names);

// The token of a list as a document of its own; of what is no list, or longer than any of types or shapes, or no JSON,
// an empty one.
Json ParseList(std::string_view token);

}  // namespace infimum::ingest
