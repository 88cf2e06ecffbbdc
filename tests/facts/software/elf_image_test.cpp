#include "facts/software/elf_image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "facts/software/elf_symbols.h"
#include "software/elf_builder.h"

namespace sparkops::facts {
namespace {

using ::testing::ElementsAre;
using testing::ElfBuilder;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

ElfBuilder library() {
  ElfBuilder builder;
  builder.soname = "libx.so.3";
  builder.needed = {"libc10.so", "libcudart.so.13"};
  builder.runpath = "$ORIGIN:$ORIGIN/../../nvidia/cu13/lib";
  builder.exported = {"alpha", "beta", "_ZN3c105ErrorC1Ev", "delta", "epsilon", "zeta", "eta"};
  builder.undefined = {"cudaMalloc", "_ZN2at6Tensor3addEv"};
  builder.weak_undefined = {"__gmon_start__"};
  return builder;
}

std::vector<std::string> names(const std::vector<UndefinedSymbol>& symbols) {
  std::vector<std::string> out;
  for (const auto& symbol : symbols) out.push_back(symbol.name + (symbol.weak ? " weak" : ""));
  return out;
}

TEST(ElfImage, SaysWhatTheLoaderReads) {
  for (const bool with_sections : {true, false}) {
    ElfBuilder builder = library();
    builder.with_sections = with_sections;
    const auto image = read_elf_image(*open_bytes(builder.bytes(), "libx.so"));
    ASSERT_TRUE(image) << image.error().message;
    EXPECT_EQ(to_string(image->machine), "aarch64");
    EXPECT_EQ(image->bits, 64);
    EXPECT_EQ(image->soname, "libx.so.3");
    EXPECT_THAT(image->needed, ElementsAre("libc10.so", "libcudart.so.13"));
    EXPECT_EQ(image->runpath, "$ORIGIN:$ORIGIN/../../nvidia/cu13/lib");
    EXPECT_FALSE(image->rpath);
    EXPECT_EQ(image->sections.empty(), !with_sections);
  }
}

TEST(ElfSymbols, AreFoundThroughEitherHashTableWithAndWithoutSections) {
  for (const bool with_gnu_hash : {true, false})
    for (const bool with_sections : {true, false}) {
      ElfBuilder builder = library();
      builder.with_gnu_hash = with_gnu_hash;
      builder.with_sections = with_sections;
      const auto file = open_bytes(builder.bytes(), "libx.so");
      const auto image = read_elf_image(*file);
      ASSERT_TRUE(image);
      const auto symbols = ElfSymbols::open(file, *image);
      ASSERT_TRUE(symbols) << symbols.error().message;
      for (const std::string& name : builder.exported) {
        const auto found = (*symbols)->exports(name, "");
        ASSERT_TRUE(found) << found.error().message;
        EXPECT_TRUE(*found) << name;
      }
      for (const char* const name : {"alph", "alphaa", "cudaMalloc", "", "gamma"})
        EXPECT_FALSE((*symbols)->exports(name, "").value()) << name;
      EXPECT_THAT(names((*symbols)->undefined().value()),
                  UnorderedElementsAre("cudaMalloc", "_ZN2at6Tensor3addEv", "__gmon_start__ weak"));
      EXPECT_THAT((*symbols)->exported(100).value(), ::testing::UnorderedElementsAreArray(builder.exported));
    }
}

TEST(ElfImage, OtherClassesAndByteOrdersTellTheirMachine) {
  std::string bytes = library().bytes();
  bytes[EI_CLASS] = ELFCLASS32;
  bytes[18] = EM_386;
  bytes[19] = 0;
  const auto small = read_elf_image(*open_bytes(bytes, "x"));
  ASSERT_TRUE(small);
  EXPECT_EQ(to_string(small->machine), "i386");
  EXPECT_EQ(small->bits, 32);
  bytes[EI_DATA] = ELFDATA2MSB;
  bytes[18] = 0;
  bytes[19] = EM_PPC64;
  const auto other = read_elf_image(*open_bytes(bytes, "x"));
  ASSERT_TRUE(other);
  EXPECT_EQ(to_string(other->machine), "machine 21");
}

TEST(ElfImage, WhatIsNoElfFileIsAnErrorThatNamesTheFile) {
  for (const std::string& bytes : {std::string(), std::string("\x7f"),
                                   std::string("\x7f"
                                               "ELF"),
                                   std::string("#!/bin/sh\n"), std::string("!<arch>\n"), std::string(5000, '\0')}) {
    const auto image = read_elf_image(*open_bytes(bytes, "strange.so"));
    ASSERT_FALSE(image);
    EXPECT_EQ(image.error().kind, ErrorKind::malformed);
    EXPECT_THAT(image.error().message, HasSubstr("strange.so"));
  }
}

TEST(ElfImage, AbsurdCountsAreRefused) {
  const std::string good = library().bytes();
  const auto with = [&](std::size_t at, std::uint64_t value, std::size_t size) {
    std::string bytes = good;
    bytes.replace(at, size, std::string(reinterpret_cast<const char*>(&value), size));
    return read_elf_image(*open_bytes(bytes, "absurd.so"));
  };
  // e_shnum 0 sends the reader to sh_size of the first header; e_shoff, e_phnum, e_phoff, e_shentsize
  EXPECT_FALSE(with(60, 0xfffe, 2));
  EXPECT_FALSE(with(40, ~std::uint64_t{0}, 8));
  EXPECT_FALSE(with(56, 0xffff, 2));
  EXPECT_FALSE(with(32, ~std::uint64_t{0}, 8));
  EXPECT_FALSE(with(58, 1, 2));
  EXPECT_FALSE(with(54, 1, 2));
  // the dynamic segment's size
  EXPECT_FALSE(with(64 + 56 + 32, ~std::uint64_t{0}, 8));
  EXPECT_TRUE(with(0, 0x00010102464c457f, 8));
}

TEST(ElfImage, CutOffAnywhereAndWithWrongBytesItEndsWell) {
  const std::string good = library().bytes();
  const auto use = [](std::string bytes) {
    const auto file = open_bytes(std::move(bytes), "broken.so");
    const auto image = read_elf_image(*file);
    if (!image) {
      EXPECT_THAT(image.error().message, HasSubstr("broken.so"));
      return;
    }
    const auto symbols = ElfSymbols::open(file, *image);
    if (!symbols) return;
    const auto undefined = (*symbols)->undefined();
    const auto found = (*symbols)->exports("alpha", "X_1");
    const auto exported = (*symbols)->exported(1000);
    EXPECT_TRUE(!undefined || undefined->size() < 10'000);
    EXPECT_TRUE(found || !found.error().message.empty());
    EXPECT_TRUE(!exported || exported->size() <= 1000);
  };
  for (std::size_t size = 0; size < good.size(); size += 3) use(good.substr(0, size));
  std::mt19937 random(11);
  for (int round = 0; round < 4000; ++round) {
    std::string bytes = good;
    for (int i = 0; i < 4; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    use(std::move(bytes));
  }
}

TEST(Demangled, NamesOfCPlusPlusWithinBounds) {
  EXPECT_EQ(demangled("_ZN2at6Tensor3addEv"), "at::Tensor::add()");
  EXPECT_EQ(demangled("cudaMalloc"), "cudaMalloc");
  EXPECT_EQ(demangled("_Z"), "_Z");
  std::string doubling = "_Z1fSt4pairIiiE";
  for (int i = 0; i < 60; ++i) doubling += "S_IS" + std::to_string(i % 10) + "_S_E";
  EXPECT_EQ(demangled(doubling), doubling);
  EXPECT_EQ(demangled("_Z" + std::string(100'000, 'P')), "_Z" + std::string(100'000, 'P'));
}

}  // namespace
}  // namespace sparkops::facts
