// write_sample_site DIR [MODELS DEVICES]: the files of a small site, or of one so large.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/reports/sample_site.h"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::filesystem::path folder = argv[1];
  const auto number = [&](int at, std::size_t otherwise) {
    return argc > at ? std::strtoul(argv[at], nullptr, 10) : otherwise;
  };
  for (const auto& [path, content] : infimum::SiteFiles(infimum::SampleSite(number(2, 3), number(3, 4)))) {
    std::filesystem::create_directories((folder / path).parent_path());
    std::ofstream out(folder / path, std::ios::binary);
    out << content;
    if (!out.good()) return 1;
  }
  return 0;
}
