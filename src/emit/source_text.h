// The C++ texts that sources are made of: literals that no content can leave, comments that end where their line does.
//
//   StringLiteral("a \"b\"\n")              "a \"b\"\n", with the quotes and the newline escaped
//   Comment("two words", 8)                // two\n// words\n
//   Braced({{1, 64, 56, 56}})              {1, 64, 56, 56}
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/layer/data_type.h"
#include "infimum/layer/shape.h"
#include "infimum/layer/workload.h"

namespace infimum::emit {

inline constexpr std::size_t kColumns = 120;

// Everything but printable ASCII is escaped, so that the literal is one whatever the text holds.
std::string StringLiteral(std::string_view text);

// A long text as adjacent literals, one a line, broken behind spaces; `indent` stands before each.
std::string BrokenLiteral(std::string_view text, std::size_t indent);

// `//` lines, broken at spaces. Control characters become spaces, and a backslash at a line's end, which would continue
// the comment, gets a full stop behind it.
std::string Comment(std::string_view text, std::size_t columns = kColumns);

std::string Braced(const Shape& shape);
std::string Braced(const std::vector<std::int64_t>& numbers);

// A number as a literal of type float: 0.5F, -1.0F.
std::string FloatLiteral(double value);

// A file name that says which layer a source is for: stable, safe on every file system, never equal for two layers.
//
//   convolution dtype=f32:f32:f32 in=1x64x56x56 out_channels=64 kernel=3x3 stride=1x1 ... weights=const
//     ->  convolution_f32_1x64x56x56_64_3x3_1x1_5d2c0a91
//
// The family and the values of the first fields, as many as fit, then the beginning of the text's SHA-256. Whatever is
// no letter or digit becomes an underscore, so that no text can name another folder.
// `digits` of the hash: 8 to 64.
std::string SourceName(const Workload& workload, std::size_t digits = 8);

}  // namespace infimum::emit
