#include "infimum/measurement/device.h"

#include <algorithm>
#include <array>

#include "infimum/base/text.h"

namespace infimum {
namespace {

// What people look for first stands first; every other field follows by name.
constexpr std::array<std::string_view, 14> kFieldOrder = {"family",
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
                                                          "cores",
                                                          "cores_seen"};

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

std::optional<char> HexDigit(char c) {
  if (c >= '0' && c <= '9') return static_cast<char>(c - '0');
  if (c >= 'A' && c <= 'F') return static_cast<char>(c - 'A' + 10);
  return std::nullopt;
}

std::optional<std::string> Unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const std::optional<char> high = HexDigit(text[i + 1]), low = HexDigit(text[i + 2]);
    if (!high || !low) return std::nullopt;
    plain += static_cast<char>(*high * 16 + *low);
    i += 2;
  }
  return plain;
}

// Adds what "name=value" says; false where it is no such piece.
bool AddPiece(std::string_view piece, std::map<std::string, std::string>& pieces) {
  const std::size_t equals = piece.find('=');
  if (equals == std::string_view::npos) return false;
  std::optional<std::string> name = Unescaped(piece.substr(0, equals)), value = Unescaped(piece.substr(equals + 1));
  if (!name || !value) return false;
  pieces[*std::move(name)] = *std::move(value);
  return true;
}

std::string Field(std::string_view name, std::string_view value) {
  std::string field = "/";
  return field.append(Escape(name)).append("=").append(Escape(value));
}

}  // namespace

std::string_view Name(DeviceKind kind) { return kind == DeviceKind::kCpu ? "cpu" : "gpu"; }

std::string_view Name(PeakRate::Kind kind) {
  constexpr std::string_view kNames[] = {"read", "write", "copy", "arithmetic", "tf32", "launch", "retention"};
  return kNames[static_cast<std::size_t>(kind)];
}

DeviceKey Device::Key() const {
  std::string text = std::string(Name(kind));
  text.append("/").append(Escape(vendor));
  for (std::string_view field_name : kFieldOrder) {
    if (const auto field = identity.find(std::string(field_name)); field != identity.end()) {
      text += Field(field_name, field->second);
    }
  }
  for (const auto& [field_name, value] : identity) {
    if (std::ranges::find(kFieldOrder, field_name) == kFieldOrder.end()) text += Field(field_name, value);
  }
  return {std::move(text)};
}

std::optional<Device> Device::OfKey(std::string_view key) {
  const std::vector<std::string_view> pieces = Split(key, '/');
  if (pieces.size() < 3 || (pieces[0] != "cpu" && pieces[0] != "gpu")) return std::nullopt;
  Device device;
  device.kind = pieces[0] == "gpu" ? DeviceKind::kGpu : DeviceKind::kCpu;
  const std::optional<std::string> vendor = Unescaped(pieces[1]);
  if (!vendor) return std::nullopt;
  device.vendor = *vendor;
  for (std::size_t i = 2; i < pieces.size(); ++i)
    if (!AddPiece(pieces[i], device.identity)) return std::nullopt;
  if (device.Key().text != key) return std::nullopt;
  const auto name = device.identity.find("name");
  device.name = name != device.identity.end() ? name->second : device.vendor;
  if (const auto cores = device.identity.find("cores"); cores != device.identity.end())
    device.cores = std::max<std::int64_t>(1, ParseInteger(cores->second).value_or(1));
  return device;
}

EnvironmentKey Environment::Key() const {
  std::string text = "threads=" + std::to_string(threads);
  // The prefix keeps a library called "threads" apart from the field.
  for (const auto& [name, version] : libraries) text += "/library:" + Escape(name) + "=" + Escape(version);
  return {std::move(text)};
}

const std::string& FactOf(const Evidence& facts, std::string_view name) {
  static const std::string unknown;
  const auto found = facts.find(std::string(name));
  return found == facts.end() ? unknown : found->second;
}

EvidenceText TextOf(const Evidence& facts) {
  std::string text;
  for (const auto& [name, value] : facts)
    if (!value.empty()) text += Field(name, value);
  return {text.empty() ? text : text.substr(1)};
}

Evidence EvidenceOf(const EvidenceText& text) {
  Evidence facts;
  for (const std::string_view piece : Split(text.text, '/')) AddPiece(piece, facts);
  return facts;
}

}  // namespace infimum
