// What was compiled for a device, kept in the user's cache (INFIMUM_CACHE, by default ~/.cache/infimum, in `kernels`)
// by all that it was made of: kernels of ours, plans of cuDNN.
//
//   const CodeCache cache;
//   cache.Keep("sm_90\n" + source, code);
//   cache.Find("sm_90\n" + source)   // the code, in this process and later ones
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace infimum::cuda {

class CodeCache {
 public:
  // An empty folder: nothing is kept.
  explicit CodeCache(std::filesystem::path folder = DefaultFolder()) : folder_(std::move(folder)) {}
  static std::filesystem::path DefaultFolder();

  // nullopt of a damaged file too.
  std::optional<std::string> Find(std::string_view made_of) const;
  // What cannot be written is compiled again by the next process.
  void Keep(std::string_view made_of, std::string_view code) const;

 private:
  std::filesystem::path FileOf(std::string_view made_of) const;

  std::filesystem::path folder_;
};

}  // namespace infimum::cuda
