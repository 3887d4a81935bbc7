#include "infimum/base/sha256.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace infimum {
namespace {

std::string Hash(const std::string& text, Sha256Instructions instructions = Sha256Instructions::kBest) {
  return Sha256(std::as_bytes(std::span(text.data(), text.size())), instructions);
}

TEST(Sha256, GivesTheAnswersOfTheStandard) {
  EXPECT_EQ(Hash(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Hash(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, IsTheSameWithAndWithoutTheProcessorsInstructions) {
  std::string text;
  for (int length = 0; length < 300; ++length) {
    EXPECT_EQ(Hash(text), Hash(text, Sha256Instructions::kPortable)) << length;
    text += static_cast<char>(length * 37);
  }
}

TEST(Sha256, OfAFileIsThatOfItsContent) {
  const testing::TemporaryFolder folder;
  const std::string text((std::size_t{5} << 19) + 3, 'x');  // two parts and a half
  EXPECT_EQ(Sha256OfFile(folder.Write("file", text)), Hash(text));
  EXPECT_EQ(Sha256OfFile(folder.Write("empty", "")), Hash(""));
  EXPECT_FALSE(Sha256OfFile(folder.path()));
  EXPECT_FALSE(Sha256OfFile(folder.path() / "none"));
  // Waited for by nobody.
  ASSERT_EQ(mkfifo((folder.path() / "pipe").c_str(), 0600), 0);
  EXPECT_FALSE(Sha256OfFile(folder.path() / "pipe"));
}

TEST(Sha256, OfPartsIsThatOfTheWhole) {
  const std::string text(1000, 'x');
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  for (const std::size_t part : {1u, 7u, 63u, 64u, 65u, 300u}) {
    Sha256Hash hash;
    for (std::size_t at = 0; at < bytes.size(); at += part)
      hash.Add(bytes.subspan(at, std::min(part, bytes.size() - at)));
    EXPECT_EQ(hash.Text(), Hash(text)) << part;
    EXPECT_EQ(hash.Text(), Hash(text)) << part;  // to ask changes nothing
  }
}

}  // namespace
}  // namespace infimum
