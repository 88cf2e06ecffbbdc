#include "facts/software/fat_binary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "software/elf_builder.h"
#include "software/fatbin_builder.h"

namespace sparkops::facts {
namespace {

using testing::ElfBuilder;
using testing::fatbin_container;
using testing::FatbinEntry;
using ::testing::HasSubstr;
using testing::k_lz4;
using testing::k_variant_a;
using testing::k_variant_f;
using testing::k_zstandard;
using ::testing::SizeIs;

Result<FatBinary> code_of(std::vector<std::pair<std::string, std::string>> sections,
                          HiddenContainers hidden = HiddenContainers::never,
                          const std::function<void(const CodeObject&)>& visit = {}) {
  ElfBuilder builder;
  builder.sections = std::move(sections);
  const auto file = open_bytes(builder.bytes(), "libx.so");
  const auto image = read_elf_image(*file);
  if (!image) return tl::unexpected(image.error());
  return read_fat_binary(*file, *image, hidden, visit);
}

TEST(FatBinary, EveryFlagIsTold) {
  struct Letter {
    std::uint64_t flags;
    const char* text;
  };
  struct Kind {
    std::uint16_t kind;
    const char* prefix;
  };
  for (const Kind& kind : {Kind{1, "compute_"}, Kind{2, "sm_"}, Kind{8, "lto_"}, Kind{16, "unknown_"}})
    for (const Letter& letter : {Letter{0, ""}, Letter{k_variant_a, "a"}, Letter{k_variant_f, "f"}})
      for (const std::uint64_t compression : {std::uint64_t{0}, k_lz4, k_zstandard})
        for (const std::uint32_t arch : {75U, 90U, 120U, 121U})
          for (const std::uint32_t header : {64U, 72U, 128U}) {
            FatbinEntry entry;
            entry.kind = kind.kind;
            entry.arch = arch;
            entry.variant_flags = letter.flags;
            entry.compression_flags = compression;
            entry.uncompressed = compression == 0 ? 0 : 20'000;
            entry.header_size = header;
            entry.major = 9;
            entry.minor = 1;
            const auto code = code_of({{".nv_fatbin", fatbin_container({entry})}});
            ASSERT_TRUE(code) << code.error().message;
            ASSERT_THAT(code->groups, SizeIs(1));
            const CodeGroup& group = code->groups[0];
            EXPECT_EQ(to_string(group.target), kind.prefix + std::to_string(arch) + letter.text);
            EXPECT_EQ(group.compression, compression == 0       ? CodeCompression::none
                                         : compression == k_lz4 ? CodeCompression::lz4
                                                                : CodeCompression::zstandard);
            EXPECT_EQ(group.stored_bytes, 4096U);
            EXPECT_EQ(group.uncompressed_bytes, compression == 0 ? 4096U : 20'000U);
            EXPECT_EQ(group.isa_major, kind.kind == 1 ? 9 : 0);
            EXPECT_EQ(code->malformed, 0U);
          }
}

TEST(FatBinary, ContainersWithPaddingBetweenThemInBothSections) {
  const std::string one = fatbin_container({{.arch = 120}, {.kind = 1, .arch = 121, .major = 9, .minor = 0}});
  const std::string section = one + std::string(200, '\0') + one + one;
  std::vector<CodeObject> objects;
  const auto code = code_of({{".nv_fatbin", section}, {"__nv_relfatbin", one}}, HiddenContainers::never,
                            [&](const CodeObject& object) { objects.push_back(object); });
  ASSERT_TRUE(code);
  EXPECT_EQ(code->containers, 4U);
  EXPECT_EQ(code->objects, 8U);
  EXPECT_THAT(objects, SizeIs(8));
  ASSERT_THAT(code->groups, SizeIs(4));
  EXPECT_EQ(code->groups[0].section, ".nv_fatbin");
  EXPECT_EQ(code->groups[0].count, 3U);
  EXPECT_EQ(code->groups[2].section, "__nv_relfatbin");
}

TEST(FatBinary, LinkStubsAreCountedAsSuch) {
  const auto code = code_of({{".nv_fatbin", fatbin_container({{.stored = 1504}, {.stored = 80'000}})}});
  ASSERT_TRUE(code);
  EXPECT_EQ(code->groups.at(0).count, 2U);
  EXPECT_EQ(code->groups.at(0).stubs, 1U);
}

TEST(FatBinary, ContainersInOtherSectionsAreFoundWhenThereAreOnlyStubs) {
  std::string data(std::size_t{2} << 20, '\x50');
  const std::string hidden = fatbin_container({{.arch = 90}, {.arch = 121}});
  data.replace(4096, hidden.size(), hidden);
  data.replace(80'000, hidden.size(), hidden);
  const std::string stub = fatbin_container({{.arch = 75, .stored = 1400}});
  const auto without = code_of({{".nv_fatbin", stub}, {".ldata", data}});
  ASSERT_TRUE(without);
  EXPECT_EQ(without->objects, 1U);
  const auto with = code_of({{".nv_fatbin", stub}, {".ldata", data}}, HiddenContainers::if_only_stubs);
  ASSERT_TRUE(with);
  EXPECT_TRUE(with->searched_elsewhere);
  EXPECT_EQ(with->objects, 5U);
  EXPECT_EQ(with->groups[0].section, ".ldata");
  const auto enough = code_of({{".nv_fatbin", hidden}, {".ldata", data}}, HiddenContainers::if_only_stubs);
  ASSERT_TRUE(enough);
  EXPECT_FALSE(enough->searched_elsewhere);
}

TEST(FatBinary, WhatIsMalformedIsCountedAndPassedOver) {
  const std::string good = fatbin_container({{.arch = 120}});
  std::string absurd = fatbin_container({{.arch = 100}});
  absurd.replace(16 + 8, 8, "\xff\xff\xff\xff\xff\xff\xff\x7f");  // payload beyond the container
  std::string large_header = fatbin_container({{.arch = 100}});
  large_header.replace(16 + 4, 4, std::string("\x00\x00\x01\x00", 4));
  std::string endless = fatbin_container({{.arch = 100}});
  endless.replace(8, 8, "\xff\xff\xff\xff\xff\xff\xff\xff");
  std::string newer = fatbin_container({{.arch = 100}});
  newer[4] = 9;
  for (const std::string& bad : {absurd, large_header, endless, newer}) {
    const auto code = code_of({{".nv_fatbin", good + bad + good}});
    ASSERT_TRUE(code);
    EXPECT_GE(code->malformed, 1U);
    ASSERT_THAT(code->problems, ::testing::Not(::testing::IsEmpty()));
    EXPECT_THAT(code->problems[0], HasSubstr("libx.so: offset "));
    EXPECT_EQ(code->objects, 2U) << code->problems[0];
  }
}

TEST(FatBinary, TruncatedAnywhereItNeverReadsOutside) {
  ElfBuilder builder;
  builder.sections = {{".nv_fatbin", fatbin_container({{.stored = 64}, {.kind = 1, .stored = 64}})}};
  const std::string whole = builder.bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto file = open_bytes(whole.substr(0, size), "cut.so");
    const auto image = read_elf_image(*file);
    if (!image) {
      EXPECT_THAT(image.error().message, HasSubstr("cut.so"));
      continue;
    }
    const auto code = read_fat_binary(*file, *image, HiddenContainers::always);
    EXPECT_THAT(code ? "cut.so" : code.error().message, HasSubstr("cut.so"));
  }
}

TEST(FatBinary, RandomBytesInEveryPlace) {
  std::mt19937 random(7);
  const std::string good = fatbin_container({{.stored = 64}, {.kind = 1, .stored = 64}, {.stored = 64}});
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = good + good;
    for (int i = 0; i < 6; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    const auto code = read_device_code(*open_bytes(bytes, "x.fatbin"));
    EXPECT_LE(code ? code->objects : 0, bytes.size() / 64);
  }
}

TEST(DeviceCode, BareFatbin) {
  const auto code = read_device_code(*open_bytes(fatbin_container({{.arch = 120, .variant_flags = k_variant_f}}), "x"));
  ASSERT_TRUE(code);
  EXPECT_EQ(to_string(code->groups.at(0).target), "sm_120f");
}

TEST(DeviceCode, CubinsOfBothGenerations) {
  ElfBuilder builder;
  builder.machine = EM_CUDA;
  std::string bytes = builder.bytes();
  bytes[EI_OSABI] = 0x41;
  const std::uint32_t flags = 0x06007902;
  bytes.replace(48, 4, std::string(reinterpret_cast<const char*>(&flags), 4));
  const auto cuda13 = read_device_code(*open_bytes(bytes, "x.cubin"));
  ASSERT_TRUE(cuda13) << cuda13.error().message;
  EXPECT_EQ(to_string(cuda13->groups.at(0).target), "sm_121?");
  bytes[EI_OSABI] = 0x33;
  const std::uint32_t older = 0x5a0d5a;
  bytes.replace(48, 4, std::string(reinterpret_cast<const char*>(&older), 4));
  const auto cuda12 = read_device_code(*open_bytes(bytes, "x.cubin"));
  ASSERT_TRUE(cuda12);
  EXPECT_EQ(to_string(cuda12->groups.at(0).target), "sm_90a");
}

TEST(DeviceCode, PtxText) {
  const auto code = read_device_code(
      *open_bytes("//\n// Generated\n\n.version 9.1\n.target sm_121a, debug\n.address_size 64\n", "x.ptx"));
  ASSERT_TRUE(code);
  EXPECT_EQ(to_string(code->groups.at(0).target), "compute_121a");
  EXPECT_EQ(code->groups.at(0).isa_minor, 1);
  for (const char* const text :
       {"", ".version", ".version x\n.target sm_90", ".target sm_90", ".version 9.0\n.target gfx90",
        ".version 99999999999999999.0\n.target sm_90", ".version 9.0\n.target sm_a\n"}) {
    const auto none = read_device_code(*open_bytes(text, "x.ptx"));
    ASSERT_FALSE(none) << text;
    EXPECT_THAT(none.error().message, HasSubstr("x.ptx"));
  }
}

}  // namespace
}  // namespace sparkops::facts
