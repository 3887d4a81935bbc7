#include "tests/emit/golden_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "tests/support/folders.h"

namespace infimum::testing {

namespace fs = std::filesystem;

std::string ReadText(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path << " is missing: run with INFIMUM_UPDATE_GOLDEN=1";
  return std::string(std::istreambuf_iterator<char>(file), {});
}

void ExpectGoldenFolder(const std::string& name, const std::string& library,
                        const std::vector<std::string>& candidates) {
  const fs::path folder = fs::path(testing::SourceFolder()) / "tests/emit/golden" / name;
  const Result<Plan> plan = ParsePlan(ReadText(folder / "plan.txt"), "plan.txt");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  const Result<EmittedProject> project = EmitProject(*plan, {library, candidates, "1.2.3"});
  ASSERT_TRUE(project.ok()) << project.error().message;

  const fs::path sources = testing::SourceFolder();
  const fs::path libraries = sources / "microbench/libraries";
  const fs::path as_they_are[] = {sources / "src/emit/emitted",   libraries / "onednn/primitives",
                                  libraries / "cublaslt/calls",   libraries / "cudnn/calls",
                                  libraries / "cublas/calls",     libraries / "cudnn_legacy/calls",
                                  libraries / "cusparselt/calls", sources / "src/core/measurement"};
  const fs::path expected = folder / "expected";
  const char* const update = std::getenv("INFIMUM_UPDATE_GOLDEN");
  const bool updates = update != nullptr && std::string(update) == "1";
  if (updates) {
    fs::remove_all(expected);
    fs::create_directories(expected);
  }
  std::set<std::string> names;
  for (const EmittedFile& file : project->files) {
    const auto copied = std::find_if(std::begin(as_they_are), std::end(as_they_are),
                                     [&](const fs::path& from) { return fs::exists(from / file.name); });
    if (copied != std::end(as_they_are) && file.name != "README.md" && file.name != "CMakeLists.txt") {
      // All files of a project are in one folder.
      const std::regex folders("#include \"[^\"\n]*/");
      EXPECT_EQ(std::regex_replace(ReadText(*copied / file.name), folders, "#include \""), file.text) << file.name;
      continue;
    }
    // Sources that are no part of a build keep another ending, so that no tool takes them for ours.
    const std::string stored = file.name + ".expected";
    names.insert(stored);
    if (updates) {
      std::ofstream(expected / stored, std::ios::binary) << file.text;
    } else {
      EXPECT_EQ(ReadText(expected / stored), file.text) << file.name;
    }
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(expected))
    EXPECT_TRUE(names.contains(entry.path().filename().string())) << entry.path() << " is no longer written";
}

}  // namespace infimum::testing
