#include "src/readers/onnx/parse/library_message.h"

#include <algorithm>

#include "infimum/base/text.h"

namespace infimum {

std::string MessageLine(std::string_view message) {
  std::string line;
  for (const char c : message) {
    if (c == '\n' || c == '\r' || c == '\t')
      line += line.empty() || line.back() == ' ' ? "" : " ";
    else if (static_cast<unsigned char>(c) >= 0x20 && c != '\x7f')
      line += c;
  }
  if (line.starts_with('[')) line = line.substr(std::min(line.find(']') + 1, line.size()));
  const std::string_view trimmed = TrimSpace(line);
  return std::string(trimmed.ends_with('.') ? trimmed.substr(0, trimmed.size() - 1) : trimmed);
}

}  // namespace infimum
