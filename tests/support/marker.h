// A marker that every name of a test's input has, and where it comes through: for what must not say a name.
//
//   EXPECT_THAT(TracesOfTheMarker(page), IsEmpty());
//   EXPECT_EQ(Numbers(anonymous_json), Numbers(plain_json));
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace infimum::testing {

inline constexpr const char* kMarker = "Xyzzyplugh";  // of which every name here has one

inline std::string Small(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

inline std::string Base64(const std::string& text) {
  constexpr const char* kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i + 2 < text.size(); i += 3) {  // whole groups of three alone
    unsigned bits = 0;
    for (std::size_t k = 0; k < 3; ++k) bits = bits * 256 + static_cast<unsigned char>(text[i + k]);
    for (int shift = 18; shift >= 0; shift -= 6) out += kDigits[bits >> shift & 63];
  }
  return out;
}

// The marker in any case, in base64 wherever it begins in its text, or with escapes for its letters.
inline std::vector<std::string> TracesOfTheMarker(const std::string& text) {
  std::vector<std::string> found;
  const std::string small = Small(text);
  std::string percent, unicode, hex;
  for (const char c : Small(kMarker)) {
    char digits[8];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(c));
    percent += std::string("%") + digits;
    unicode += std::string("\\u00") + digits;
    hex += digits;
  }
  for (const std::string& trace : {Small(kMarker), percent, unicode, hex})
    if (const std::size_t at = small.find(trace); at != std::string::npos)
      found.push_back(text.substr(at < 60 ? 0 : at - 60, 140));
  for (const std::string& name : {std::string(kMarker), Small(kMarker)})
    for (std::size_t skipped = 0; skipped < 3; ++skipped)
      if (text.find(Base64(name.substr(skipped))) != std::string::npos) found.push_back("base64 of " + name);
  return found;
}

// Every number and truth value with the way to it; texts are what may differ.
inline void Collect(const nlohmann::json& json, const std::string& path, std::vector<std::string>& numbers) {
  if (path == "/run/settings") return;
  if (json.is_object() || json.is_array()) {
    numbers.push_back(path + " has " + std::to_string(json.size()));
    for (const auto& [key, value] : json.items()) Collect(value, path + "/" + key, numbers);
  } else if (!json.is_string()) {
    numbers.push_back(path + " = " + json.dump());
  }
}

inline std::vector<std::string> Numbers(const std::string& text) {
  std::vector<std::string> numbers;
  Collect(nlohmann::json::parse(text), "", numbers);
  return numbers;
}

}  // namespace infimum::testing
