// Where the sources and the programs of this build are. Apart from the tests themselves, so that no test's object
// depends on the clone that it was compiled in.
#pragma once

#include <string>

namespace infimum::testing {

std::string SourceFolder();                    // "/home/me/infimum"
std::string Program(const std::string& name);  // Program("infimum") is "/home/me/infimum/build/bin/infimum"

}  // namespace infimum::testing
