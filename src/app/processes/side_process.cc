#include "src/app/processes/side_process.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <vector>

namespace infimum {

void BecomeSideProcess(const char* name, std::initializer_list<int> kept) {
  prctl(PR_SET_NAME, name);
  setpgid(0, 0);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGALRM}) std::signal(signal, SIG_IGN);
  std::vector<int> descriptors(kept);
  std::sort(descriptors.begin(), descriptors.end());
  unsigned next = 0;
  for (const int descriptor : descriptors) {
    const auto number = static_cast<unsigned>(descriptor);
    if (number > next) close_range(next, number - 1, 0);
    next = number + 1;
  }
  close_range(next, ~0U, 0);
}

}  // namespace infimum
