// A file of trtexec as JSON, which it is but for two things that trtexec writes into it as they are: control
// characters in names (TensorRT 8.6), and numbers that are none.
//
//   "Metadata": "[ONNX Layer: a]<0x1e>[ONNX Layer: b]"   ->  kNameSeparator between the two
//   "percentage" : -nan                                  ->  a text, which no field of numbers takes
//
// Every byte stays in its place, so that errors name the byte of the file.
#pragma once

#include <istream>
#include <string>
#include <string_view>

#include "infimum/base/result.h"
#include "src/readers/files/json_fields.h"

namespace infimum::ingest {

// Stands for every control character in a text; JSON allows it.
inline constexpr char kNameSeparator = '\x7f';

// The stream may be compressed; it must be at its start.
Result<Json> ParseTensorRtText(std::istream& input, std::string_view origin);

// A text of the document with kNameSeparator in place of control characters, also of those that were escaped.
std::string WithSeparators(std::string text);

}  // namespace infimum::ingest
