// What kernels take of the standard library, for a compiler that has none (NVRTC): stands for <cmath>, <concepts>,
// <cstddef>, <cstdint>, <cstring>, <limits> and <type_traits>. Mathematics and memcpy are the compiler's own.
#pragma once

namespace std {

using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long;
using size_t = decltype(sizeof 0);

template <class T, class U>
inline constexpr bool is_same_v = false;
template <class T>
inline constexpr bool is_same_v<T, T> = true;

// Of the types that elements have.
template <class T>
inline constexpr bool is_floating_point_v = is_same_v<T, float> || is_same_v<T, double>;
template <class T>
inline constexpr bool is_unsigned_v = is_same_v<T, uint8_t> || is_same_v<T, uint16_t> || is_same_v<T, uint32_t> ||
                                      is_same_v<T, uint64_t> || is_same_v<T, unsigned long long> || is_same_v<T, bool>;
template <class T>
inline constexpr bool is_signed_v = is_same_v<T, int8_t> || is_same_v<T, int16_t> || is_same_v<T, int32_t> ||
                                    is_same_v<T, int64_t> || is_same_v<T, long long> || is_same_v<T, char>;
template <class T>
inline constexpr bool is_integral_v = is_signed_v<T> || is_unsigned_v<T>;
template <class T>
concept integral = is_integral_v<T>;
template <class T>
concept floating_point = is_floating_point_v<T>;

template <class T>
struct unsigned_of {
  using type = T;
};
template <>
struct unsigned_of<int8_t> {
  using type = uint8_t;
};
template <>
struct unsigned_of<int16_t> {
  using type = uint16_t;
};
template <>
struct unsigned_of<int32_t> {
  using type = uint32_t;
};
template <>
struct unsigned_of<int64_t> {
  using type = uint64_t;
};
template <class T>
using make_unsigned_t = typename unsigned_of<T>::type;

template <bool kValue, class Then, class Else>
struct choice {
  using type = Then;
};
template <class Then, class Else>
struct choice<false, Then, Else> {
  using type = Else;
};
template <bool kValue, class Then, class Else>
using conditional_t = typename choice<kValue, Then, Else>::type;

template <class T, T kValue>
struct integral_constant {
  static constexpr T value = kValue;
};

template <class T>
struct numeric_limits {  // of integers
  static constexpr bool has_infinity = false;
  static constexpr T max() {
    if constexpr (is_unsigned_v<T>) {
      return static_cast<T>(~T{0});
    } else {
      return static_cast<T>(static_cast<make_unsigned_t<T>>(~make_unsigned_t<T>{0}) >> 1);
    }
  }
  static constexpr T min() {
    if constexpr (is_unsigned_v<T>) {
      return 0;
    } else {
      return static_cast<T>(-max() - 1);
    }
  }
  static constexpr T lowest() { return min(); }
  static constexpr T infinity() { return 0; }
};
template <>
struct numeric_limits<float> {
  static constexpr bool has_infinity = true;
  static constexpr float max() { return 0x1.fffffep127F; }
  static constexpr float lowest() { return -max(); }
  static constexpr float infinity() { return __builtin_bit_cast(float, 0x7f800000); }
};
template <>
struct numeric_limits<double> {
  static constexpr bool has_infinity = true;
  static constexpr double max() { return 0x1.fffffffffffffp1023; }
  static constexpr double lowest() { return -max(); }
  static constexpr double infinity() { return __builtin_bit_cast(double, 0x7ff0000000000000L); }
};

using ::abs, ::acos, ::acosh, ::asin, ::asinh, ::atan, ::atanh, ::ceil, ::cos, ::cosh, ::erf, ::exp, ::expm1, ::fabs,
    ::floor, ::fmod, ::isnan, ::log, ::log1p, ::pow, ::rint, ::sin, ::sinh, ::sqrt, ::tan, ::tanh, ::trunc;

}  // namespace std

#define HUGE_VAL std::numeric_limits<double>::infinity()
#define INT64_MAX std::numeric_limits<std::int64_t>::max()
