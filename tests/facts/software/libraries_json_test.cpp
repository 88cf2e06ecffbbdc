#include "facts/software/libraries_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "facts/software/native_code.h"
#include "machine/tree.h"
#include "software/elf_builder.h"
#include "software/fatbin_builder.h"
#include "software/loader_cache_builder.h"

namespace sparkops::facts {
namespace {

using ::testing::ElementsAre;
using testing::ElfBuilder;
using ::testing::HasSubstr;
using testing::Tree;

constexpr const char* k_site = "venv/lib/python3.12/site-packages";

/// An environment with torch for CUDA 13, an extension built for another torch and CUDA 12, and one for x86-64.
void install(const Tree& tree) {
  const std::string site = k_site;
  const auto library = [](const std::string& soname, std::vector<std::string> needed, std::vector<std::string> exported,
                          std::vector<std::string> undefined, std::uint16_t machine = EM_AARCH64) {
    ElfBuilder builder;
    builder.machine = machine;
    builder.soname = soname;
    builder.needed = std::move(needed);
    builder.exported = std::move(exported);
    builder.undefined = std::move(undefined);
    builder.runpath = "$ORIGIN:$ORIGIN/../../nvidia/cu13/lib";
    builder.sections = {
        {".nv_fatbin", testing::fatbin_container({{.arch = 120, .variant_flags = testing::k_variant_a}})}};
    return builder.bytes();
  };
  tree.write(site + "/torch/lib/libc10.so", library("libc10.so", {}, {"_ZN3c105ErrorC1Ev"}, {}));
  tree.write(site + "/torch/lib/libtorch.so", library("libtorch.so", {"libc10.so", "libcudart.so.13"}, {}, {}));
  tree.write(site + "/nvidia/cu13/lib/libcudart.so.13", library("libcudart.so.13", {}, {"cudaMalloc"}, {}));
  tree.write(site + "/flash_attn_2_cuda.so",
             library("", {"libc10.so", "libcudart.so.12"}, {}, {"_ZN3c105ErrorC1Ev", "_ZN3c103oldEv", "PyList_New"}));
  tree.write(site + "/foreign/_C.so", library("", {"libc10.so"}, {}, {}, EM_X86_64));
  tree.write(site + "/foreign/broken.so", "not a library");
  tree.write("usr/bin/python3", library("", {}, {"main"}, {}));
  tree.write("etc/ld.so.cache",
             testing::loader_cache_bytes(
                 {{"libcudart.so.13", std::string("/") + k_site + "/nvidia/cu13/lib/libcudart.so.13"}}));
  for (const auto& [name, files] : std::vector<std::pair<std::string, std::string>>{
           {"torch", "torch/lib/libc10.so,,\ntorch/lib/libtorch.so,,\n"},
           {"flash_attn", "flash_attn_2_cuda.so,,\nflash_attn/__init__.py,,\n"},
           {"foreign", "foreign/_C.so,,\nforeign/broken.so,,\nforeign/gone.so,,\n"}})
    tree.write(site + "/" + name + "-1.dist-info/RECORD", files);
}

PythonEnvironment environment() {
  PythonEnvironment environment;
  environment.interpreter = "/usr/bin/python3";
  environment.sites = {{std::string("/") + k_site, SiteDirectory::Kind::environment}};
  for (const char* const key : {"torch", "flash-attn", "foreign"}) {
    Distribution distribution;
    distribution.name = distribution.key = key;
    distribution.site = std::string("/") + k_site;
    distribution.metadata =
        distribution.site + "/" + (distribution.key == "flash-attn" ? "flash_attn" : key) + "-1.dist-info";
    distribution.wheel_platform = as_read(std::string("manylinux_2_28_aarch64"));
    environment.distributions.push_back(distribution);
  }
  return environment;
}

/// What the readers say, in words that can be compared.
std::vector<std::string> told(const NativeCode& native) {
  std::vector<std::string> out;
  for (const NativeLibrary& library : native.libraries) {
    std::string text = library.path.substr(library.path.rfind('/') + 1) + " " + library.machine.value_or("unreadable");
    if (library.resolution) {
      if (library.resolution->wrong_machine) text += " wrong machine";
      for (const ResolvedNeed& need : library.resolution->needs)
        if (need.status != NeedStatus::found) text += " lacks " + need.soname + " has " + need.other_version;
      for (const UndefinedSymbol& symbol : library.resolution->undefined)
        text += " undefined " + demangled(symbol.name);
    }
    if (library.code)
      for (const CodeGroup& group : library.code->groups) text += " " + to_string(group.target);
    out.push_back(text);
  }
  for (const CudaLibraryFile& file : native.cuda.files)
    out.push_back(file.soname + " " + std::to_string(static_cast<int>(file.place)));
  return out;
}

TEST(NativeCode, NamesWhatIsBroken) {
  Tree tree;
  install(tree);
  Libraries libraries(tree.root());
  const NativeCode native = read_native_code(libraries, environment(), unknown("none"));
  EXPECT_THAT(
      told(native),
      ElementsAre("flash_attn_2_cuda.so aarch64 lacks libcudart.so.12 has libcudart.so.13 undefined c10::old() sm_120a",
                  "_C.so x86_64 wrong machine sm_120a", "broken.so unreadable", "libc10.so aarch64",
                  "libtorch.so aarch64", "libcudart.so.13 1"));
  EXPECT_EQ(native.of("flash-attn").size(), 1U);
  EXPECT_EQ(native.machine, ElfMachine::aarch64);
}

TEST(LibrariesJson, ACaptureTellsTheSame) {
  Tree tree;
  install(tree);
  Libraries libraries(tree.root());
  const NativeCode native = read_native_code(libraries, environment(), unknown("none"));
  StoredLibraries stored = libraries.stored_form();
  for (const NativeLibrary& library : native.libraries)
    if (library.resolution) stored.libraries.at(library.path).missing = library.resolution->undefined;
  Tree captured;
  captured.write("sparkops/libraries.json", libraries_to_json(stored));
  Libraries again(captured.root());
  EXPECT_EQ(told(read_native_code(again, environment(), unknown("none"))), told(native));
  // And once more, as a capture of a capture.
  EXPECT_EQ(libraries_from_json(libraries_to_json(stored)).value().libraries.size(), stored.libraries.size());
}

TEST(LibrariesJson, WhatIsNotInTheCaptureIsSaidToBe) {
  Tree captured;
  captured.write("sparkops/libraries.json", libraries_to_json({}));
  captured.write("usr/lib/libx.so", "anything");
  Libraries libraries(captured.root());
  EXPECT_THAT(libraries.at("/usr/lib/libx.so").error().message, HasSubstr("not in the capture"));
  EXPECT_FALSE(libraries.exists("/usr/lib/libx.so"));
}

TEST(LibrariesJson, ForeignTextIsAnErrorOrRead) {
  const std::string good = libraries_to_json({});
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{}"), std::string("{\"schema\": 1}"),
        std::string(R"({"schema": "sparkops.libraries/1", "libraries": []})"), std::string(100'000, '[')})
    EXPECT_FALSE(libraries_from_json(text)) << text.substr(0, 60);
  const auto odd = libraries_from_json(
      R"({"schema": "sparkops.libraries/1", "libraries": {"/x": {"needed": [1, null, "a"], "machine": -1, "code": {"groups":
          [{"kind": 99, "arch": 1e300, "isa": ["a"], "count": 18446744073709551615}, 7]}}, "/y": 3}, "loader_cache": [["a"], 5]})");
  ASSERT_TRUE(odd);
  EXPECT_THAT(odd->libraries.at("/x").image.needed, ElementsAre("a"));
  Tree captured;
  captured.write("sparkops/libraries.json", "{");
  Libraries libraries(captured.root());
  EXPECT_THAT(libraries.at("/x.so").error().message, HasSubstr("sparkops/libraries.json"));
}

}  // namespace
}  // namespace sparkops::facts
