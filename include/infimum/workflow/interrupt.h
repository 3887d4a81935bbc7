// Ctrl-C as a question that long work asks: the first SIGINT or SIGTERM ends the work that is under way and lets
// its results be written; the second ends the program at once.
#pragma once

namespace infimum {

// Installs the handlers; once, from main.
void WatchForInterrupt();

bool Interrupted();

}  // namespace infimum
