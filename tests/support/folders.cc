#include "tests/support/folders.h"

namespace infimum::testing {

std::string SourceFolder() { return INFIMUM_SOURCE_DIR; }
std::string Program(const std::string& name) { return INFIMUM_BINARY_DIR "/bin/" + name; }

}  // namespace infimum::testing
