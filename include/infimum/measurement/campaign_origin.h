// What rows came from. Rows of two campaigns that measured the same are both kept; within one a row with more
// repetitions takes the place of one with fewer.
//
//   {"sha256:9f2c...", "batch_1.json"}   a file of another program
//   {"", ""}                             what runners of ours measured for a store: it belongs to no campaign
#pragma once

#include <compare>
#include <string>

namespace infimum {

struct CampaignOrigin {
  std::string key;     // the same for the same content; "" for rows that belong to no campaign
  std::string source;  // for people: a file's name

  friend auto operator<=>(const CampaignOrigin&, const CampaignOrigin&) = default;
};

}  // namespace infimum
