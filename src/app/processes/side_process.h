// A fork of this process that only waits for its end, to clean up behind it.
#pragma once

#include <initializer_list>

namespace infimum {

// Called in the fork: no terminal's and no `kill`'s signal reaches it, `name` is what `ps` shows, and all descriptors
// but `kept` are closed, so that it holds neither locks nor pipes of the process that it was made of.
void BecomeSideProcess(const char* name, std::initializer_list<int> kept);

}  // namespace infimum
