// Files of measurements into the store: a runner's results journal, the Google Benchmark JSON made from one, or a
// framework's run (infimum.run/1). Which of them a file is, its content says, not its name.
//
//   Result<ImportCount> count = ImportFile("results.jsonl", *store);
//
// A journal is imported in batches, each of them one transaction, so that memory stays bounded and an error
// half-way keeps what came before it; importing again adds only the rest.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string_view>

#include "infimum/db/store.h"

namespace infimum {

Result<ImportCount> ImportFile(const std::filesystem::path& path, Store& store);

// A results journal alone, from a stream.
Result<ImportCount> ImportJournal(std::istream& input, std::string_view origin, Store& store);

}  // namespace infimum
