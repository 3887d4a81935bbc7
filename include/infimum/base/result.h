// Errors as values. Whatever an input, a library or the hardware can cause is returned as a
// Result<T>; bugs abort (check.h); exceptions of libraries are caught in the file that calls them.
//
//   Result<Plan> ReadPlan(std::string_view text) {
//     INFIMUM_ASSIGN_OR_RETURN(Workload workload, ParseWorkload(line));
//     if (seen) return Error{"plan.txt:17:24: a second 'in', remove one of them"};
//     ...
//   }
//
// A message says where, what, and what next, on one line and without a full stop at its end.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "infimum/base/check.h"

namespace infimum {

struct Error {
  std::string message;

  friend bool operator==(const Error&, const Error&) = default;
};

// Puts `where` and a colon before the message: Error{"bad"}.In("plan.txt:3") is "plan.txt:3: bad".
[[nodiscard]] Error Within(std::string where, Error error);

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(*explicit*)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(*explicit*)

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  const T& value() const& {
    INFIMUM_CHECK(ok(), "value() asked of a Result that holds an error");
    return std::get<0>(state_);
  }
  T& value() & {
    INFIMUM_CHECK(ok(), "value() asked of a Result that holds an error");
    return std::get<0>(state_);
  }
  T&& value() && {
    INFIMUM_CHECK(ok(), "value() asked of a Result that holds an error");
    return std::get<0>(std::move(state_));
  }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

  const Error& error() const {
    INFIMUM_CHECK(!ok(), "error() asked of a Result that holds a value");
    return std::get<1>(state_);
  }

 private:
  std::variant<T, Error> state_;
};

// Success or an error, for functions that return nothing else.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}  // NOLINT(*explicit*)

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const {
    INFIMUM_CHECK(!ok(), "error() asked of a Status that is ok");
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

// The same of an error that a result or a status may hold.
template <class T>
Result<T> Within(std::string where, Result<T> result) {
  if (!result.ok()) return Within(std::move(where), result.error());
  return result;
}
Status Within(std::string where, Status status);

}  // namespace infimum

#define INFIMUM_INTERNAL_JOIN2(a, b) a##b
#define INFIMUM_INTERNAL_JOIN(a, b) INFIMUM_INTERNAL_JOIN2(a, b)

// Assigns the value of `expression`, a Result, to `target`, or returns its error.
#define INFIMUM_ASSIGN_OR_RETURN(target, expression)                    \
  auto INFIMUM_INTERNAL_JOIN(infimum_result_, __LINE__) = (expression); \
  if (!INFIMUM_INTERNAL_JOIN(infimum_result_, __LINE__).ok())           \
    return INFIMUM_INTERNAL_JOIN(infimum_result_, __LINE__).error();    \
  target = std::move(INFIMUM_INTERNAL_JOIN(infimum_result_, __LINE__)).value()

// Returns the error of `expression`, a Status or Result, if it has one.
#define INFIMUM_RETURN_IF_ERROR(expression)                                                      \
  do {                                                                                           \
    if (auto infimum_status = (expression); !infimum_status.ok()) return infimum_status.error(); \
  } while (false)
