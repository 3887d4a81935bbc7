// A struct as a JSON object and back, from one list of its fields:
//
//   void VisitFields(auto& visit, Like<Candidate> auto& candidate) {
//     visit("library", candidate.library);              // required
//     visit("threads", candidate.threads, {1, 64});     // within limits
//     visit.Sparse("reason", candidate.reason);         // written unless empty; may be absent
//     visit.Lenient("cores", candidate.cores);          // always written; absent or null leaves what the struct has
//   }
//
//   DumpJson(ToJson(candidate)) == {"library":"onednn","threads":1,"cores":2}
//   FromJson(json, "", candidate): "'threads' is 0, expected a whole number from 1 to 64"
//
// An absent std::optional is not written, and may be absent. Fields are written in the order of the list and read in
// any; unknown ones are skipped. What is no object in JSON has a JsonForm, an enumeration its kLastEnumerator and
// Name(). A field may depend on those before it: reading has filled them in by then.
#pragma once

#include <chrono>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "infimum/base/beat.h"
#include "infimum/base/result.h"
#include "infimum/base/text.h"
#include "infimum/base/units.h"

namespace infimum {

using Json = nlohmann::json;
// Members keep their order, so that files are stable and read well.
using OrderedJson = nlohmann::ordered_json;

// 31 years: sums of such times stay far from overflow.
inline constexpr double kMaxMicroseconds = 1e15;

// Of a number. Without `most` anything up to the largest of its type; a Latency up to kMaxMicroseconds.
struct Limits {
  double least = 0;
  std::optional<double> most = std::nullopt;
};

// Parses one document; the error starts with the byte, from 1, where it is not JSON. Refuses documents
// nested deeper than any of ours, or of more values, before anything is built from them.
Result<Json> ParseJson(std::string_view text);

// One line, or indented by `indent` spaces; never throws on invalid UTF-8.
template <class AnyJson>
std::string DumpJson(const AnyJson& json, int indent = -1) {
  return json.dump(indent, ' ', false, AnyJson::error_handler_t::replace);
}

// Checked access to members. Every function names the member in its error:
//   'threads' is missing;   'count' is the text '12', expected a whole number from 1

// nullptr where there is none or it is null; `object` may be any JSON.
const Json* FindMember(const Json& object, std::string_view name);

Error Missing(std::string_view name);
Error Unexpected(const Json& json, std::string_view name, std::string_view expected);

Result<const Json*> ObjectField(const Json& object, std::string_view name);
Result<const Json*> ArrayField(const Json& object, std::string_view name);
Result<std::string> TextField(const Json& object, std::string_view name);

// That a document's 'schema' is this one.
Status CheckSchema(const Json& document, std::string_view schema);

// A value on its own; `name` is what errors call it.
Result<std::int64_t> IntegerOf(const Json& json, std::string_view name, const Limits& limits);
Result<double> NumberOf(const Json& json, std::string_view name, const Limits& limits);  // finite

template <class Self, class Type>
concept Like = std::same_as<std::remove_const_t<Self>, Type>;

// The form of a value that JSON has no object for, such as a text: specialised with
//   static Simple Write(const T&);  static Status Read(const Simple&, T&);
template <class T>
struct JsonForm;

// [arithmetic, memory], or with the cache's as a third, in microseconds.
template <>
struct JsonForm<Beat> {
  static std::vector<Latency> Write(const Beat& beat) {
    if (beat.cache > Latency(0)) return {beat.arithmetic, beat.memory, beat.cache};
    return {beat.arithmetic, beat.memory};
  }
  static Status Read(const std::vector<Latency>& times, Beat& beat);
};

// Specialised for enumerations that are written by name, from 0 to this one.
template <class Enum>
inline constexpr Enum kLastEnumerator = Enum();

namespace json_struct {

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;
template <class T>
inline constexpr bool kIsTextMap = false;
template <class T>
inline constexpr bool kIsTextMap<std::map<std::string, T>> = true;
template <class T>
inline constexpr bool kIsCount = false;
template <class Tag>
inline constexpr bool kIsCount<Count<Tag>> = true;
template <class T>
inline constexpr bool kIsDuration = false;
template <class Rep, class Period>
inline constexpr bool kIsDuration<std::chrono::duration<Rep, Period>> = true;
template <class T>
concept HasForm = requires(const T& value) {
  JsonForm<T>::Write(value);
};
template <class T>
inline constexpr bool kIsStruct = std::is_class_v<T> && !kIsOptional<T> && !kIsVector<T> && !kIsTextMap<T> &&
                                  !kIsCount<T> && !kIsDuration<T> && !HasForm<T> && !std::is_same_v<T, std::string>;

}  // namespace json_struct

template <class AnyJson = OrderedJson, class T>
AnyJson ToJson(const T& value);

// `name` is the field's in errors. `limits` are those of each number in the value.
template <class T>
Status FromJson(const Json& json, std::string_view name, T& value, const Limits& limits = {});

template <class AnyJson>
class JsonWriter {
 public:
  AnyJson object = AnyJson::object();

  template <class T>
  void operator()(const char* name, const T& value, const Limits& /*limits*/ = {}) {
    if constexpr (json_struct::kIsOptional<T>) {
      if (value) object[name] = ToJson<AnyJson>(*value);
    } else {
      object[name] = ToJson<AnyJson>(value);
    }
  }
  template <class T>
  void Sparse(const char* name, const T& value, const Limits& /*limits*/ = {}) {
    if (!value.empty()) object[name] = ToJson<AnyJson>(value);
  }
  template <class T>
  void Lenient(const char* name, const T& value, const Limits& /*limits*/ = {}) {
    object[name] = ToJson<AnyJson>(value);
  }
};

// After the first error nothing more is read.
class JsonReader {
 public:
  explicit JsonReader(const Json& object) : object_(object) {}

  template <class T>
  void operator()(const char* name, T& value, const Limits& limits = {}) {
    if constexpr (json_struct::kIsOptional<T>) {
      Lenient(name, value, limits);
    } else if (status_.ok()) {
      const Json* const member = FindMember(object_, name);
      status_ = member != nullptr ? FromJson(*member, name, value, limits) : Missing(name);
    }
  }
  template <class T>
  void Sparse(const char* name, T& value, const Limits& limits = {}) {
    Lenient(name, value, limits);
  }
  template <class T>
  void Lenient(const char* name, T& value, const Limits& limits = {}) {
    if (!status_.ok()) return;
    if (const Json* const member = FindMember(object_, name)) status_ = FromJson(*member, name, value, limits);
  }

  const Status& status() const { return status_; }

 private:
  const Json& object_;
  Status status_;
};

template <class AnyJson, class T>
AnyJson ToJson(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return Name(value);
  } else if constexpr (json_struct::HasForm<T>) {
    return ToJson<AnyJson>(JsonForm<T>::Write(value));
  } else if constexpr (json_struct::kIsOptional<T>) {
    return value ? ToJson<AnyJson>(*value) : AnyJson(nullptr);
  } else if constexpr (json_struct::kIsCount<T>) {
    return value.value;
  } else if constexpr (json_struct::kIsDuration<T>) {
    return ToJson<AnyJson>(value.count());
  } else if constexpr (std::is_floating_point_v<T>) {
    // JSON has neither NaN nor infinity, and null would say that nothing is known.
    return std::isfinite(value) ? value : std::numeric_limits<T>::max();
  } else if constexpr (json_struct::kIsVector<T>) {
    AnyJson list = AnyJson::array();
    list.template get_ref<typename AnyJson::array_t&>().reserve(value.size());
    for (const auto& element : value) list.push_back(ToJson<AnyJson>(element));
    return list;
  } else if constexpr (json_struct::kIsTextMap<T>) {
    AnyJson object = AnyJson::object();
    for (const auto& [key, element] : value) object[key] = ToJson<AnyJson>(element);
    return object;
  } else if constexpr (json_struct::kIsStruct<T>) {
    JsonWriter<AnyJson> writer;
    VisitFields(writer, value);
    return std::move(writer.object);
  } else {
    return value;
  }
}

template <class T>
Status FromJson(const Json& json, std::string_view name, T& value, const Limits& limits) {
  if constexpr (std::is_same_v<T, std::string>) {
    if (!json.is_string()) return Unexpected(json, name, "a text");
    value = json.get_ref<const std::string&>();
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!json.is_boolean()) return Unexpected(json, name, "true or false");
    value = json.get<bool>();
  } else if constexpr (std::is_enum_v<T>) {
    std::string text;
    INFIMUM_RETURN_IF_ERROR(FromJson(json, name, text));
    constexpr int kLast = static_cast<int>(kLastEnumerator<T>);
    int index = 0;
    while (index <= kLast && Name(static_cast<T>(index)) != text) ++index;
    value = static_cast<T>(index);
    if (index <= kLast) return {};
    std::vector<std::string_view> known;
    for (int i = 0; i <= kLast; ++i) known.push_back(Name(static_cast<T>(i)));
    return Error{"'" + std::string(name) + "' has the unknown value " + Quoted(text) + DidYouMean(text, known)};
  } else if constexpr (json_struct::HasForm<T>) {
    std::remove_cvref_t<decltype(JsonForm<T>::Write(value))> simple;
    INFIMUM_RETURN_IF_ERROR(FromJson(json, name, simple, limits));
    if (Status status = JsonForm<T>::Read(simple, value); !status.ok())
      return Within(std::string(name), status.error());
  } else if constexpr (json_struct::kIsOptional<T>) {
    value.reset();
    return json.is_null() ? Status() : FromJson(json, name, value.emplace(), limits);
  } else if constexpr (json_struct::kIsCount<T>) {
    return FromJson(json, name, value.value, limits);
  } else if constexpr (json_struct::kIsDuration<T>) {
    typename T::rep count{};
    constexpr bool kIsLatency = std::is_same_v<T, Latency>;
    INFIMUM_RETURN_IF_ERROR(
        FromJson(json, name, count, kIsLatency && !limits.most ? Limits{0, kMaxMicroseconds} : limits));
    value = T(count);
  } else if constexpr (std::is_floating_point_v<T>) {
    INFIMUM_ASSIGN_OR_RETURN(value, NumberOf(json, name, limits));
  } else if constexpr (std::is_integral_v<T>) {
    INFIMUM_ASSIGN_OR_RETURN(const std::int64_t number, IntegerOf(json, name, limits));
    value = static_cast<T>(number);
  } else if constexpr (json_struct::kIsVector<T>) {
    if (!json.is_array()) return Unexpected(json, name, "a list");
    value.clear();
    value.reserve(json.size());
    for (const Json& element : json) {
      // A number in a list has the list's name, since its value says which it is.
      constexpr bool kHasPlace = json_struct::kIsStruct<typename T::value_type>;
      const std::string place =
          kHasPlace ? std::string(name) + "[" + std::to_string(value.size()) + "]" : std::string();
      INFIMUM_RETURN_IF_ERROR(FromJson(element, kHasPlace ? place : name, value.emplace_back(), limits));
    }
  } else if constexpr (json_struct::kIsTextMap<T>) {
    if (!json.is_object()) return Unexpected(json, name, "an object");
    value.clear();
    for (const auto& [key, element] : json.items())
      INFIMUM_RETURN_IF_ERROR(FromJson(element, std::string(name) + "." + key, value[key], limits));
  } else {
    if (!json.is_object()) return Unexpected(json, name, "an object");
    JsonReader reader(json);
    VisitFields(reader, value);
    if (!reader.status().ok() && !name.empty()) return Within(std::string(name), reader.status().error());
    return reader.status();
  }
  return {};
}

// A member that must be there.
template <class T>
Result<T> FieldOf(const Json& object, const char* name, const Limits& limits = {}) {
  T value{};
  JsonReader reader(object);
  reader(name, value, limits);
  if (!reader.status().ok()) return reader.status().error();
  return value;
}

// A file that is one struct: which schema it has, then the fields.
template <class T>
std::string FormatDocument(std::string_view schema, const T& value, int indent = -1) {
  JsonWriter<OrderedJson> writer;
  writer("schema", std::string(schema));
  VisitFields(writer, value);
  return DumpJson(writer.object, indent) + '\n';
}
template <class T>
Result<T> ParseDocument(std::string_view text, std::string_view schema) {
  T value;
  INFIMUM_ASSIGN_OR_RETURN(const Json document, ParseJson(text));
  INFIMUM_RETURN_IF_ERROR(CheckSchema(document, schema));
  INFIMUM_RETURN_IF_ERROR(FromJson(document, "", value));
  return value;
}

}  // namespace infimum
