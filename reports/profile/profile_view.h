// What `infimum compare` prints of profiles: one text a profile for a terminal, JSON (schema infimum.compare/1) and CSV
// of all of them with the same numbers.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "reports/model/layers_view.h"
#include "reports/profile/timeline_view.h"
#include "reports/run/gate.h"

namespace infimum {

using ProfileView = std::variant<TimelineView, LayersView>;

// The largest operators, layers and kernels only. `width` 0: as wide as needed.
std::string ProfileText(const ProfileView& view, std::size_t width);
// All of them: {"schema":"infimum.compare/1","runs":[{"kind":"timeline"|"layers","source",...,"findings":[...]}],
// "gates":[...]}, the gates as AccountJson has them.
std::string ProfilesJson(const std::vector<ProfileView>& views, std::span<const Gate> gates = {});
// One line a kernel or layer.
std::string ProfilesCsv(const std::vector<ProfileView>& views);

}  // namespace infimum
