// A field that a reader wants of each event, as it stands in the window; its type is looked at when it is asked for, so
// that fields of events that nobody reads may hold anything.
//
//   EventField name("name"), start("ts");
//   EventField* const wanted[] = {&name, &start};
//   ClearFields(wanted);
//   INFIMUM_RETURN_IF_ERROR(ReadFields(event.object, wanted));
//   INFIMUM_ASSIGN_OR_RETURN(const std::string_view text, name.Text());
//   INFIMUM_ASSIGN_OR_RETURN(const std::int64_t time, start.Integer(0, kYear, 0));
//
// The same rules and errors as json_fields.h: absent or null is the fallback, another type an error with the name.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "infimum/base/result.h"
#include "src/ingest/json_fields.h"

namespace infimum::ingest {

class EventField {
 public:
  explicit EventField(const char* name) : name_(name) {}
  EventField(const EventField&) = delete;
  EventField& operator=(const EventField&) = delete;

  std::string_view name() const { return name_; }
  void Clear() { token_ = {}; }
  // Goes through lists, not through objects: those are whoever's who wants fields of them.
  Status Set(simdjson::ondemand::value& value);

  // What follows is valid until the next event.
  bool absent() const { return token_.empty() || token_ == "null"; }
  bool is_text() const { return token_.starts_with('"'); }
  bool is_list() const { return token_.starts_with('['); }
  // The text in the file, of a list all of it: "[[1, 64], []]", "\"a\"", "17".
  std::string_view token() const { return token_; }
  // Empty where it is absent.
  Result<std::string_view> Text() const;
  Result<std::int64_t> Integer(std::int64_t least, std::int64_t most, std::int64_t fallback) const;
  // Microseconds as nanoseconds, not negative.
  Result<std::optional<std::int64_t>> Nanoseconds() const;

  Error WrongType(std::string_view wanted) const;

 private:
  const char* name_;
  std::string_view token_;
  std::optional<std::string_view> text_;
  std::string scratch_;
};

void ClearFields(std::span<EventField* const> fields);

using TakeField = std::function<Status(std::string_view key, simdjson::ondemand::value& value)>;

// Of all fields of an object those that are wanted; the others go to `other`, where there is one.
Status ReadFields(simdjson::ondemand::object& object, std::span<EventField* const> wanted,
                  const TakeField& other = nullptr);

// As above, of a value that may be no object: then nothing is there.
Status ReadFields(simdjson::ondemand::value& value, std::span<EventField* const> wanted,
                  const TakeField& other = nullptr);

// The token of a list as a document of its own; of what is no list, or longer than any of types or shapes, an empty
// one.
Result<Json> ParseList(std::string_view token);

}  // namespace infimum::ingest
