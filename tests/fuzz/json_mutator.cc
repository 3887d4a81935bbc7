// Changes JSON value by value, so that a fuzzer passes the parser and reaches what is behind it. Half of the changes
// are libFuzzer's own, of bytes. Of a journal one line is changed.
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

using Json = nlohmann::ordered_json;

void Collect(Json& value, std::vector<Json*>& all) {
  all.push_back(&value);
  if (value.is_structured())
    for (Json& inner : value) Collect(inner, all);
}

// Values at which readers err.
Json Odd(std::mt19937& random) {
  static const Json kOdd[] = {0,
                              -1,
                              1,
                              INT64_MAX,
                              INT64_MIN,
                              UINT64_MAX,
                              4503599627370496,
                              31536000000000,
                              0.5,
                              -0.5,
                              1e-300,
                              1e300,
                              -1e300,
                              "",
                              "0",
                              "-1",
                              "9223372036854775807",
                              "1e400",
                              std::string("a\n\x1b[31m\x7f"),
                              "stream 7",
                              std::string(200, 'x'),
                              nullptr,
                              true,
                              Json::array(),
                              Json::object(),
                              Json::array({1, -1, 2}),
                              Json::array({Json::array()})};
  return kOdd[random() % std::size(kOdd)];
}

void Change(Json& document, std::mt19937& random) {
  std::vector<Json*> all;
  Collect(document, all);
  Json& value = *all[random() % all.size()];
  switch (random() % 6) {
    case 0:
      if (value.is_structured() && !value.empty()) {
        value.erase(std::next(value.begin(), static_cast<std::ptrdiff_t>(random() % value.size())));
        break;
      }
      [[fallthrough]];
    case 1:
      if (value.is_array() && value.size() > 1) {
        std::swap(value[random() % value.size()], value[random() % value.size()]);
        break;
      }
      [[fallthrough]];
    case 2:
      if (value.is_array() && !value.empty()) {
        const Json copy = value[random() % value.size()];
        value.insert(std::next(value.begin(), static_cast<std::ptrdiff_t>(random() % value.size())), copy);
        break;
      }
      [[fallthrough]];
    case 3: {
      const Json copy = *all[random() % all.size()];
      value = copy;
      break;
    }
    default:
      value = Odd(random);
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  std::mt19937 random(seed);
  if (random() % 2 == 0) return LLVMFuzzerMutate(data, size, most);
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::size_t start = 0, end = text.size();
  Json document = Json::parse(text, nullptr, false);
  if (document.is_discarded() && size > 0) {
    const std::size_t at = random() % size;
    start = text.rfind('\n', at);
    start = start == std::string::npos ? 0 : start + 1;
    end = std::max(start, std::min(text.find('\n', start), text.size()));
    document = Json::parse(text.substr(start, end - start), nullptr, false);
  }
  if (document.is_discarded()) return LLVMFuzzerMutate(data, size, most);
  for (std::uint_fast32_t changes = 1 + random() % 3; changes > 0; --changes) Change(document, random);
  const std::string changed =
      text.substr(0, start) + document.dump(-1, ' ', false, Json::error_handler_t::replace) + text.substr(end);
  if (changed.empty() || changed.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::copy(changed.begin(), changed.end(), data);
  return changed.size();
}
