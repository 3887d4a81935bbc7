#include "reports/page/html_page.h"

#include <fmt/format.h>

#include <cstddef>
#include <span>

#include "infimum/base/check.h"
#include "infimum/base/sha256.h"
#include "reports/page/html_writer.h"

namespace infimum {
namespace {

constexpr std::string_view kMark = "@@";

// Style and script from its own folder or server, and nothing else.
constexpr const char* kPolicyOfSite =
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src data:; base-uri 'none'; form-action 'none'";

int HexDigit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

// RFC 4648 of the bytes that `hex` names.
std::string Base64OfHex(std::string_view hex) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned bits = 0;
  int count = 0;
  for (const char c : hex) {
    bits = (bits << 4) | static_cast<unsigned>(HexDigit(c));
    count += 4;
    if (count < 6) continue;
    count -= 6;
    out += kDigits[(bits >> count) & 0x3F];
    bits &= (1u << count) - 1;
  }
  if (count > 0) out += kDigits[(bits << (6 - count)) & 0x3F];
  while (out.size() % 4 != 0) out += '=';
  return out;
}

std::string Source(std::string_view text) {
  return " 'sha256-" + Base64OfHex(Sha256(std::as_bytes(std::span(text.data(), text.size())))) + "'";
}

}  // namespace

std::string FillPage(std::string_view page, const PageParts& parts) {
  std::string out;
  while (true) {
    const std::size_t open = page.find(kMark);
    if (open == std::string_view::npos) break;
    const std::size_t close = page.find(kMark, open + kMark.size());
    INFIMUM_CHECK(close != std::string_view::npos, "a place of a page without its end");
    out += page.substr(0, open);
    const auto part = parts.find(page.substr(open + kMark.size(), close - open - kMark.size()));
    INFIMUM_CHECK(part != parts.end(), "a place of a page that nothing fills");
    out += part->second();
    page.remove_prefix(close + kMark.size());
  }
  return out += page;
}

std::string VersionOf(std::string_view page, std::string_view kept, std::string_view left_out) {
  std::string version(page);
  const auto erase = [&version](const std::string& from, const std::string& to) {
    for (std::size_t at = version.find(from); at != std::string::npos; at = version.find(from, at)) {
      const std::size_t end = version.find(to, at);
      INFIMUM_CHECK(end != std::string::npos, "a part of a page without its end");
      version.erase(at, end + to.size() - at);
    }
  };
  erase(fmt::format("<!--{}-->", left_out), fmt::format("<!--/{}-->", left_out));
  for (const char* slash : {"", "/"}) erase(fmt::format("<!--{}{}-->", slash, kept), "-->");
  return version;
}

std::string WritePage(const PageFrame& frame, PageParts parts) {
  std::vector<std::string_view> scripts;
  if (!frame.d3.empty()) scripts.push_back(frame.d3);
  scripts.push_back(frame.script);
  const bool is_file = frame.assets.empty();
  parts["POLICY"] = [&] { return EscapedHtml(is_file ? PolicyFor({frame.style}, scripts) : kPolicyOfSite); };
  parts["ASSETS"] = [&] { return EscapedHtml(frame.assets); };
  parts["TITLE"] = [&] { return EscapedHtml(frame.title); };
  parts["STYLE"] = [&] { return frame.style; };
  parts["D3"] = [&] { return frame.d3; };
  parts["SCRIPT"] = [&] { return std::string(frame.script); };
  parts["DATA"] = [&] {
    std::string data;
    AppendScriptData(frame.json, data);
    return data;
  };
  parts["FOOTER"] = [&] {
    return EscapedHtml(fmt::format(
        "{}{}Written by infimum {}. {} nothing.", frame.data_as_of, frame.data_as_of.empty() ? "" : ". ",
        frame.infimum_version, is_file ? "This page is one file and fetches" : "Beyond its folder this page fetches"));
  };
  return FillPage(VersionOf(frame.page, is_file ? "file" : "site", is_file ? "site" : "file"), parts);
}

std::string PolicyFor(const std::vector<std::string_view>& styles, const std::vector<std::string_view>& scripts) {
  std::string policy = "default-src 'none'; style-src";
  for (const std::string_view style : styles) policy += Source(style);
  policy += "; script-src";
  for (const std::string_view script : scripts) policy += Source(script);
  return policy + "; img-src data:; base-uri 'none'; form-action 'none'";
}

std::string EscapedHtml(std::string_view text) {
  std::string out;
  AppendHtmlText(text, out);
  return out;
}

}  // namespace infimum
