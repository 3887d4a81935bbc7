#include "src/workflow/temporary_folder.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>

namespace infimum {

Result<TemporaryFolder> TemporaryFolder::Make() {
  std::error_code error;
  std::string pattern = (std::filesystem::temp_directory_path(error) / "infimum-XXXXXX").string();
  if (error || mkdtemp(pattern.data()) == nullptr) {
    return Error{fmt::format("no temporary folder can be made ({}); set TMPDIR to a folder with space",
                             error ? error.message() : std::strerror(errno))};
  }
  return TemporaryFolder(std::filesystem::path(pattern));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace infimum
