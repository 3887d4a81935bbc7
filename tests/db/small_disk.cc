#include "tests/db/small_disk.h"

#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

namespace infimum::testing {

SmallDisk::SmallDisk(std::string path, int mebibytes, int free_mebibytes) : path_(std::move(path)) {
  std::filesystem::create_directories(path_);
  if (mount("none", path_.c_str(), "tmpfs", 0, ("size=" + std::to_string(mebibytes) + "m").c_str()) != 0) {
    why_not_ = std::string("no disk can be mounted here: ") + std::strerror(errno);
    return;
  }
  std::ofstream(path_ + "/ballast") << std::string(static_cast<std::size_t>(mebibytes - free_mebibytes) << 20U, 'x');
  std::filesystem::create_directory(files());
}

SmallDisk::~SmallDisk() {
  if (mounted()) umount2(path_.c_str(), MNT_DETACH);
}

void SmallDisk::MakeSpace() const { std::filesystem::remove(path_ + "/ballast"); }

}  // namespace infimum::testing
