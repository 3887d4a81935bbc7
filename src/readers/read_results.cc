#include "src/readers/read_results.h"

#include <fmt/format.h>

#include <fstream>
#include <vector>

#include "infimum/base/sha256.h"
#include "src/readers/formats.h"

namespace infimum {

Status ReadResults(std::istream& input, std::string_view origin, const ResultsTaker& taker) {
  return WithFormatOf(input, origin, [&](const FileFormat& format, std::istream& text) -> Status {
    if (format.read_results != nullptr) return format.read_results(text, origin, taker);
    if (!format.advice.empty()) return Error{fmt::format("{}: {}", origin, format.advice)};
    if (format.read_profile != nullptr)
      return Error{fmt::format("{}: a {}: infimum compare --run shows its content", origin, format.name)};
    return Error{fmt::format(
        "{}: neither a results journal, nor Google Benchmark JSON, nor a framework's run (infimum.run/1)", origin)};
  });
}

Status ReadResultsFile(const std::filesystem::path& path, const ResultsTaker& taker) {
  INFIMUM_ASSIGN_OR_RETURN(std::ifstream file, ingest::OpenFile(path));
  return ReadResults(file, path.string(), taker);
}

Result<std::string> CampaignKeyOf(const std::filesystem::path& path) {
  INFIMUM_ASSIGN_OR_RETURN(std::ifstream file, ingest::OpenFile(path));
  return WithFormatOf(file, path.string(), [](const FileFormat& format, std::istream& text) -> Result<std::string> {
    if (!format.is_campaign) return std::string();
    Sha256Hash hash;
    std::vector<char> block(std::size_t{1} << 16);
    while (text.read(block.data(), static_cast<std::streamsize>(block.size())) || text.gcount() > 0)
      hash.Add(std::as_bytes(std::span(block.data(), static_cast<std::size_t>(text.gcount()))));
    return "sha256:" + hash.Text();
  });
}

}  // namespace infimum
