// Numbers and texts of a trace's events as simdjson finds them in the file, without a copy and without a double.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace infimum::ingest {

// The key of a field as it stands in the file (keys with escapes are none that we know).
std::string_view KeyOf(simdjson::ondemand::field& field);

// A value's text in the file: of a string with its quotes, of an object or list its first character.
std::string_view TokenOf(simdjson::ondemand::value& value);

// What stands within a string's quotes; of what has none all of it.
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

}  // namespace infimum::ingest
