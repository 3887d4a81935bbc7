#include "src/readers/onnx/parse/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace infimum {

Result<MappedFile> MappedFile::Open(const std::filesystem::path& path) {
  const std::string name = path.string();
  // O_NONBLOCK: opening a pipe must not wait for its writer; for files it changes nothing.
  const int descriptor = ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return Error{name + ": cannot be opened: " + std::strerror(errno)};
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    const int code = errno;
    ::close(descriptor);
    return Error{name + ": cannot be read: " + std::strerror(code)};
  }
  if (!S_ISREG(status.st_mode)) {
    ::close(descriptor);
    return Error{name + (S_ISDIR(status.st_mode) ? ": is a folder, name the file in it" : ": is not a regular file")};
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) {
    ::close(descriptor);
    return MappedFile({});
  }
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  const int code = errno;
  ::close(descriptor);
  if (address == MAP_FAILED) return Error{name + ": cannot be read: " + std::strerror(code)};
  return MappedFile({static_cast<const std::byte*>(address), size});
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace infimum
