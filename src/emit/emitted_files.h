// The files under emitted/, which go into every project as they are: embedded at build time (embed.cmake writes the
// definitions).
#pragma once

#include <string_view>

namespace infimum::emit {

std::string_view Timing();
std::string_view OneDnnMain();
std::string_view OneDnnCandidatesHeader();
std::string_view OneDnnCandidates();
std::string_view OneDnnLayouts();
std::string_view OneDnnMemory();

}  // namespace infimum::emit
