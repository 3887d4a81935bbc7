#include "infimum/measurement/device.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace infimum {
namespace {

// What people look for first stands first; every other field follows by name.
constexpr std::array<std::string_view, 13> kFieldOrder = {"family",
                                                          "model",
                                                          "stepping",
                                                          "instructions",
                                                          "compute_capability",
                                                          "multiprocessors",
                                                          "memory",
                                                          "clock",
                                                          "memory_clock",
                                                          "l1",
                                                          "l2",
                                                          "l3",
                                                          "cores"};

// Everything but letters, digits and the few marks that read well, as %XX: a piece then holds no space,
// no separator and no control character, and different texts stay different.
std::string Escape(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  constexpr std::string_view kPlain = "_.,:+-()";
  std::string escaped;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       kPlain.find(c) != std::string_view::npos;
    if (plain) {
      escaped += c;
    } else {
      escaped += '%';
      escaped += kHex[byte >> 4];
      escaped += kHex[byte & 15];
    }
  }
  return escaped;
}

std::string Field(std::string_view name, std::string_view value) {
  std::string field = "/";
  return field.append(Escape(name)).append("=").append(Escape(value));
}

}  // namespace

DeviceKey Device::Key() const {
  std::string text = kind == DeviceKind::kCpu ? "cpu" : "gpu";
  text.append("/").append(Escape(vendor));
  for (std::string_view field_name : kFieldOrder) {
    if (const auto field = identity.find(std::string(field_name)); field != identity.end()) {
      text += Field(field_name, field->second);
    }
  }
  for (const auto& [field_name, value] : identity) {
    if (std::find(kFieldOrder.begin(), kFieldOrder.end(), field_name) == kFieldOrder.end())
      text += Field(field_name, value);
  }
  return {std::move(text)};
}

EnvironmentKey Environment::Key() const {
  std::string text = "threads=" + std::to_string(threads);
  text += Field("affinity", affinity) + Field("clocks", clock_policy) + Field("host", host);
  text += Field("infimum", infimum_version);
  // The prefix keeps a library called "threads" apart from the field.
  for (const auto& [name, version] : libraries) text += "/library:" + Escape(name) + "=" + Escape(version);
  return {std::move(text)};
}

}  // namespace infimum
