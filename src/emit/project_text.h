// A project's CMakeLists.txt and README.md.
#pragma once

#include <string>
#include <vector>

#include "src/emit/library.h"
#include "src/emit/project.h"

namespace infimum::emit {

struct EmittedLayer {
  std::string file;  // of its source
  std::string text;
};

std::string CMakeListsText(const Library& library, const std::vector<EmittedLayer>& layers, const EmitOptions& options);

// `comments`: of the plan, which name models.
std::string ReadmeText(const Library& library, const std::vector<EmittedLayer>& layers,
                       const std::vector<LeftOut>& left_out, const std::vector<std::string>& comments,
                       const EmitOptions& options);

}  // namespace infimum::emit
