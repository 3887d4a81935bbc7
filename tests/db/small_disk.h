// A disk in memory, most of it taken by a file: for whatever must meet a full one. Mounting one is not for everybody.
#pragma once

#include <string>

namespace infimum::testing {

class SmallDisk {
 public:
  SmallDisk(std::string path, int mebibytes, int free_mebibytes);
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return why_not_.empty(); }
  const std::string& WhyNot() const { return why_not_; }
  // An empty folder on it.
  std::string files() const { return path_ + "/files"; }
  // Removes the file that takes most of it.
  void MakeSpace() const;

 private:
  std::string path_;
  std::string why_not_;
};

}  // namespace infimum::testing
