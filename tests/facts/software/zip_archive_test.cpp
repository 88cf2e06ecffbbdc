#include "facts/software/zip_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <random>

#include "software/zip_builder.h"

namespace sparkops::facts {
namespace {

using ::testing::HasSubstr;
using testing::zip_bytes;
using testing::ZipEntry;

std::string deflated(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()), '\0');
  std::string in = text;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

Result<ZipArchive> open(const std::string& bytes) {
  return ZipArchive::open(open_bytes(bytes, "x.whl"));
}

std::string read(const RandomAccessFile& file, std::uint64_t offset, std::size_t size) {
  std::string out(size, '\0');
  const auto count = file.read_at(offset, out);
  if (!count) return count.error().message;
  out.resize(*count);
  return out;
}

TEST(ZipArchive, StoredAndDeflatedMembersAreReadInPlace) {
  const std::string text = "hello, wheel\n";
  const auto archive = open(zip_bytes({{"a/stored.txt", text}, {"b.txt", deflated(text), 8, text.size()}}));
  ASSERT_TRUE(archive) << archive.error().message;
  ASSERT_EQ(archive->members().size(), 2U);
  for (const ZipMember& member : archive->members()) {
    const auto file = archive->open_member(member);
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ((*file)->size(), text.size());
    EXPECT_EQ(read(**file, 0, 100), text);
    EXPECT_EQ(read(**file, 7, 5), "wheel");
    EXPECT_EQ(read(**file, 100, 5), "");
    EXPECT_THAT((*file)->name(), HasSubstr("x.whl: "));
  }
}

TEST(ZipArchive, LargeDeflatedMembersAreReadInAnyOrder) {
  std::string text(std::size_t{50} << 20, '\0');
  std::mt19937 random(3);
  for (std::size_t i = 0; i < text.size(); i += 64) text[i] = static_cast<char>(random());
  const auto archive = open(zip_bytes({{"large.so", deflated(text), 8, text.size()}}));
  ASSERT_TRUE(archive);
  const auto file = archive->open_member(archive->members()[0]).value();
  for (int i = 0; i < 40; ++i) {
    const std::size_t at = random() % (text.size() - 5000);
    ASSERT_EQ(read(*file, at, 5000), text.substr(at, 5000)) << at;
  }
  EXPECT_EQ(read(*file, text.size() - 10, 100), text.substr(text.size() - 10));
}

TEST(ZipArchive, BombsAreRefusedByName) {
  const std::string zeros = deflated(std::string(std::size_t{1} << 20, '\0'));
  const auto claims = open(zip_bytes({{"bomb.so", zeros, 8, std::uint64_t{4} << 30 >> 1}}));
  ASSERT_FALSE(claims);
  EXPECT_THAT(claims.error().message, HasSubstr("x.whl: bomb.so claims to unpack"));
  // Two members that share their bytes.
  std::string shared = zip_bytes({{"a", std::string(100, 'x')}, {"b", std::string(100, 'y')}});
  const std::size_t second = shared.rfind("PK\x01\x02");
  shared.replace(second + 42, 4, std::string(4, '\0'));
  const auto overlap = open(shared);
  ASSERT_FALSE(overlap);
  EXPECT_THAT(overlap.error().message, HasSubstr("share bytes"));
}

TEST(ZipArchive, MembersThatLieAboutTheirSizeAreAnErrorWhenRead) {
  const std::string text(1000, 'z');
  for (const std::uint64_t claimed : {std::uint64_t{900}, std::uint64_t{1100}}) {
    const auto archive = open(zip_bytes({{"x", deflated(text), 8, claimed}}));
    ASSERT_TRUE(archive);
    const auto file = archive->open_member(archive->members()[0]).value();
    const std::string got = read(*file, 0, 2000);
    EXPECT_TRUE(got.find("ends before") != std::string::npos || got == std::string(900, 'z')) << got;
  }
  std::string damaged = deflated(text);
  damaged[0] = '\x07';
  const auto archive = open(zip_bytes({{"x", damaged, 8, 1000}}));
  ASSERT_TRUE(archive);
  EXPECT_THAT(read(*archive->open_member(archive->members()[0]).value(), 0, 10), HasSubstr("x.whl: x"));
}

TEST(ZipArchive, WhatCannotBeReadSaysWhy) {
  const auto encrypted = open(zip_bytes({{"x", "abc", 0, 0, 1}}));
  ASSERT_TRUE(encrypted);
  EXPECT_THAT(encrypted->open_member(encrypted->members()[0]).error().message, HasSubstr("encrypted"));
  const auto method = open(zip_bytes({{"x", "abc", 14}}));
  ASSERT_TRUE(method);
  EXPECT_THAT(method->open_member(method->members()[0]).error().message, HasSubstr("method 14"));
}

TEST(ZipArchive, CutOffAnywhereAndWithRandomBytesItEndsWell) {
  const std::string good =
      zip_bytes({{"a.so", std::string(300, 'a')}, {"b.so", deflated(std::string(3000, 'b')), 8, 3000}});
  const auto use = [](const std::string& bytes) {
    const auto archive = open(bytes);
    if (!archive) {
      EXPECT_THAT(archive.error().message, HasSubstr("x.whl"));
      return;
    }
    for (const ZipMember& member : archive->members()) {
      const auto file = archive->open_member(member);
      EXPECT_TRUE(!file || read(**file, 0, 4000).size() <= 4000);
    }
  };
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(open(good.substr(0, size))) << size;
  }
  std::mt19937 random(5);
  for (int round = 0; round < 5000; ++round) {
    std::string bytes = good;
    for (int i = 0; i < 4; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    use(bytes);
  }
}

}  // namespace
}  // namespace sparkops::facts
