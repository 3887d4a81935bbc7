// A JSON document that is read as a whole: a framework's run, a file of trtexec, what surrounds a trace's events.
// Its fields are read with src/core/results/json_struct.h.
//
//   {"a": 1,  ->  x.json: byte 9: not valid JSON; is the file cut off?
#pragma once

#include <istream>
#include <string>
#include <string_view>

#include "infimum/base/result.h"
#include "src/core/results/json_struct.h"

namespace infimum::ingest {

// The text of the stream; one of more than 256 MiB is an error.
Result<std::string> ReadWhole(std::istream& input, std::string_view origin);

Result<Json> ParseDocument(std::string_view text, std::string_view origin);

}  // namespace infimum::ingest
