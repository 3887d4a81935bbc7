// Whole files as texts.
//
//   INFIMUM_ASSIGN_OR_RETURN(const std::string text, ReadFile("plan.txt"));   // "plan.txt: cannot be read: ..."
//   INFIMUM_RETURN_IF_ERROR(WriteFile("plan.txt", text));                     // in place of what is there
//
// For files of infimum's own, which are small; input files of users have limits of their own (src/readers/files).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "infimum/base/result.h"

namespace infimum {

// A device or a pipe, /dev/stdout: it is written to, never replaced by a file.
bool IsSpecialFile(const std::filesystem::path& path);

Result<std::string> ReadFile(const std::filesystem::path& path);

// Written beside, as PATH.part, and renamed: a full disk never leaves half a file in place of a whole one.
Status WriteFile(const std::filesystem::path& path, std::string_view text);

}  // namespace infimum
