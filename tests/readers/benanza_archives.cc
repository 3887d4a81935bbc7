#include "tests/readers/benanza_archives.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <fstream>

#include "infimum/base/text.h"
#include "tests/support/folders.h"

namespace infimum::testing {
namespace {

namespace fs = std::filesystem;

bool Run(std::vector<std::string> arguments) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawnp(&child, argv[0], nullptr, nullptr, argv.data(), environ) != 0) return false;
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// zlib's gzread() gives files that are not compressed as they are.
std::string TextOf(const fs::path& file) {
  std::string text, block(std::size_t{1} << 20, '\0');
  const gzFile input = gzopen(file.c_str(), "rb");
  if (input == nullptr) return text;
  int count = 0;
  while ((count = gzread(input, block.data(), static_cast<unsigned>(block.size()))) > 0)
    text.append(block, 0, static_cast<std::size_t>(count));
  gzclose(input);
  return text;
}

}  // namespace

fs::path BenanzaFolder() { return fs::path(testing::SourceFolder()) / "../shared/data/benanza"; }

bool Unpack(const fs::path& archive, const fs::path& folder) {
  return Run({"tar", "-xJf", archive.string(), "-C", folder.string()});
}

fs::path Decompress(const fs::path& file, const fs::path& folder) {
  const fs::path copy = folder / file.filename();
  std::error_code error;
  fs::copy_file(file, copy, error);
  if (error || !Run({"xz", "-df", copy.string()})) return {};
  return folder / file.stem();
}

std::map<std::string, ManifestFile> ReadManifest(const fs::path& folder) {
  std::map<std::string, ManifestFile> files;
  std::ifstream manifest(Decompress(BenanzaFolder() / "MANIFEST.csv.xz", folder));
  for (std::string line; std::getline(manifest, line);) {
    // raw/ARCHIVE.tar.xz,PATH,BYTES,SHA256
    const std::vector<std::string_view> cells = Split(line, ',');
    constexpr std::string_view kPrefix = "raw/", kSuffix = ".tar.xz";
    if (cells.size() != 4 || !cells[0].starts_with(kPrefix) || !cells[0].ends_with(kSuffix)) continue;
    std::string name(cells[0].substr(kPrefix.size(), cells[0].size() - kPrefix.size() - kSuffix.size()));
    name.append("/").append(cells[1]);
    files[name] = {static_cast<std::uintmax_t>(ParseInteger(cells[2]).value_or(0)), std::string(TrimSpace(cells[3]))};
  }
  return files;
}

RawEntries& RawEntries::operator+=(const RawEntries& other) {
  all += other.all;
  failed += other.failed;
  profiled += other.profiled;
  ran += other.ran;
  ran_training += other.ran_training;
  failed_training += other.failed_training;
  return *this;
}

RawEntries CountEntries(const fs::path& file) {
  constexpr std::string_view kName = "\"name\": \"LAYER_";
  const std::string text = TextOf(file);
  RawEntries entries;
  for (std::size_t begin = text.find(kName); begin != std::string::npos;) {
    const std::size_t end = text.find(kName, begin + kName.size());
    const std::string_view entry = std::string_view(text).substr(begin, end - begin);
    const bool failed = entry.find("\"error_occurred\": true") != std::string_view::npos;
    const bool profiled = entry.find("\"cupti_enabled\": 1.0") != std::string_view::npos;
    const std::string_view api = entry.substr(kName.size(), 30);
    const bool training = api.starts_with("CUDNN_BATCHNORM_FWD_TRAINING") || api.starts_with("CUDNN_DROPOUT_FWD");
    ++entries.all;
    ++(failed ? entries.failed : profiled ? entries.profiled : entries.ran);
    if (training && !profiled) ++(failed ? entries.failed_training : entries.ran_training);
    begin = end;
  }
  return entries;
}

}  // namespace infimum::testing
