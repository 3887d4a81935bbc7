// Golden folders: tests/emit/golden/CASE has plan.txt and, under expected/, the files that are made of it (not those
// that every project has as they are). INFIMUM_UPDATE_GOLDEN=1 writes them anew (read the diff before committing it).
#pragma once

#include <string>
#include <vector>

#include "src/emit/project.h"

namespace infimum::testing {

std::string ReadText(const std::filesystem::path& path);

void ExpectGoldenFolder(const std::string& name, const std::string& library,
                        const std::vector<std::string>& candidates);

}  // namespace infimum::testing
