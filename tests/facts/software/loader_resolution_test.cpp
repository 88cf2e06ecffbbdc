#include "facts/software/loader_resolution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "facts/software/cuda_runtimes.h"
#include "facts/software/cuda_tool_version.h"
#include "machine/tree.h"
#include "software/elf_builder.h"
#include "software/loader_cache_builder.h"

namespace sparkops::facts {
namespace {

using ::testing::ElementsAre;
using testing::ElfBuilder;
using ::testing::IsEmpty;
using testing::loader_cache_bytes;
using testing::Tree;

std::string library(const std::string& soname, std::vector<std::string> needed = {},
                    std::vector<std::string> exported = {}, std::vector<std::string> undefined = {}) {
  ElfBuilder builder;
  builder.soname = soname;
  builder.needed = std::move(needed);
  builder.exported = std::move(exported);
  builder.undefined = std::move(undefined);
  return builder.bytes();
}

std::string library_with_runpath(const std::string& soname, std::vector<std::string> needed,
                                 const std::string& runpath) {
  ElfBuilder builder;
  builder.soname = soname;
  builder.needed = std::move(needed);
  builder.runpath = runpath;
  return builder.bytes();
}

/// "libx.so found /a/libx.so" for each need.
std::vector<std::string> told(const LibraryResolution& resolution) {
  std::vector<std::string> out;
  for (const ResolvedNeed& need : resolution.needs) {
    std::string text = need.soname;
    switch (need.status) {
      case NeedStatus::found: text += " found " + need.path; break;
      case NeedStatus::not_found: text += " not found"; break;
      case NeedStatus::wrong_machine: text += " for " + need.reason; break;
      case NeedStatus::unreadable: text += " unreadable"; break;
    }
    if (!need.other_version.empty()) text += ", other " + need.other_version;
    out.push_back(text);
  }
  return out;
}

class Resolution : public ::testing::Test {
 protected:
  const LibraryResolution& resolve(const std::string& path, LoaderContext context = {}) {
    libraries_.emplace(tree_.root());
    resolver_.emplace(*libraries_, std::move(context));
    const auto resolution = resolver_->resolve(path, SymbolCheck::check);
    if (!resolution) throw std::runtime_error(resolution.error().message);
    return **resolution;
  }

  Tree tree_;
  std::optional<Libraries> libraries_;
  std::optional<LoaderResolver> resolver_;
};

TEST_F(Resolution, FollowsTheOrderOfTheLoader) {
  tree_.write("app/ext.so", library_with_runpath("", {"liba.so.1"}, "$ORIGIN/own"));
  tree_.write("app/own/liba.so.1", library("liba.so.1"));
  tree_.write("path/liba.so.1", library("liba.so.1"));
  tree_.write("cached/liba.so.1", library("liba.so.1"));
  tree_.write("usr/lib/aarch64-linux-gnu/liba.so.1", library("liba.so.1"));
  tree_.write("etc/ld.so.cache", loader_cache_bytes({{"liba.so.1", "/cached/liba.so.1"}}));
  LoaderContext context;
  context.library_path = {"/path"};
  EXPECT_THAT(told(resolve("/app/ext.so", context)), ElementsAre("liba.so.1 found /path/liba.so.1"));
  EXPECT_THAT(told(resolve("/app/ext.so")), ElementsAre("liba.so.1 found /app/own/liba.so.1"));
  tree_.write("app/own/liba.so.1", "");
  EXPECT_THAT(told(resolve("/app/ext.so")), ElementsAre("liba.so.1 found /cached/liba.so.1"));
  tree_.write("etc/ld.so.cache", "");
  EXPECT_THAT(told(resolve("/app/ext.so")), ElementsAre("liba.so.1 found /usr/lib/aarch64-linux-gnu/liba.so.1"));
  context.loaded["liba.so.1"] = "/cached/liba.so.1";
  EXPECT_THAT(told(resolve("/app/ext.so", context)), ElementsAre("liba.so.1 found /cached/liba.so.1"));
}

TEST_F(Resolution, RpathComesBeforeTheVariableAndIsInheritedRunpathIsNot) {
  ElfBuilder builder;
  builder.needed = {"liba.so.1"};
  builder.rpath = "${ORIGIN}/own";
  tree_.write("app/ext.so", builder.bytes());
  tree_.write("app/own/liba.so.1", library("liba.so.1", {"libb.so.1"}));
  tree_.write("app/own/libb.so.1", library("libb.so.1"));
  tree_.write("path/liba.so.1", library("liba.so.1"));
  LoaderContext context;
  context.library_path = {"/path"};
  EXPECT_THAT(told(resolve("/app/ext.so", context)),
              ElementsAre("liba.so.1 found /app/own/liba.so.1", "libb.so.1 found /app/own/libb.so.1"));
  tree_.write("app/ext.so", library_with_runpath("", {"liba.so.1"}, "$ORIGIN/own"));
  EXPECT_THAT(told(resolve("/app/ext.so")), ElementsAre("liba.so.1 found /app/own/liba.so.1", "libb.so.1 not found"));
}

TEST_F(Resolution, NamesAnotherMajorThatIsThere) {
  tree_.write("app/ext.so", library("", {"libcudart.so.12"}));
  tree_.write("cuda/libcudart.so.13", library("libcudart.so.13"));
  tree_.write("etc/ld.so.cache", loader_cache_bytes({{"libcudart.so.13", "/cuda/libcudart.so.13"}}));
  const LibraryResolution& resolution = resolve("/app/ext.so");
  EXPECT_THAT(told(resolution), ElementsAre("libcudart.so.12 not found, other libcudart.so.13"));
  EXPECT_FALSE(resolution.complete());
}

TEST_F(Resolution, LibrariesForAnotherProcessorArePassedOverAndTold) {
  ElfBuilder foreign;
  foreign.machine = EM_X86_64;
  tree_.write("app/ext.so", library_with_runpath("", {"liba.so.1"}, "/x86:/arm"));
  tree_.write("x86/liba.so.1", foreign.bytes());
  EXPECT_THAT(told(resolve("/app/ext.so")), ElementsAre("liba.so.1 for x86_64"));
  tree_.write("arm/liba.so.1", library("liba.so.1"));
  EXPECT_THAT(told(resolve("/app/ext.so")), ElementsAre("liba.so.1 found /arm/liba.so.1"));
  tree_.write("app/ext.so", foreign.bytes());
  EXPECT_TRUE(resolve("/app/ext.so").wrong_machine);
}

TEST_F(Resolution, SymbolsThatNothingExportsAreNamed) {
  tree_.write("app/ext.so",
              library("", {"libc10.so"}, {}, {"_ZN3c105ErrorC1Ev", "_ZN3c103newEv", "PyList_New", "main"}));
  tree_.write("usr/lib/libc10.so", library("libc10.so", {}, {"_ZN3c105ErrorC1Ev"}));
  tree_.write("usr/bin/python3", library("", {}, {"main"}));
  LoaderContext context;
  context.program = "/usr/bin/python3";
  const LibraryResolution& resolution = resolve("/app/ext.so", context);
  ASSERT_EQ(resolution.undefined.size(), 1U);
  EXPECT_EQ(demangled(resolution.undefined[0].name), "c10::new()");
  EXPECT_TRUE(resolution.symbols_certain);
  tree_.write("app/ext.so", library("", {"libc10.so", "libgone.so"}, {}, {"_ZN3c103newEv"}));
  EXPECT_FALSE(resolve("/app/ext.so").symbols_certain);
}

TEST_F(Resolution, CyclesEnd) {
  tree_.write("app/a.so", library_with_runpath("a.so", {"b.so", "a.so"}, "$ORIGIN:$ORIGIN/../app:$ORIGIN"));
  tree_.write("app/b.so", library_with_runpath("b.so", {"a.so", "c.so"}, "$ORIGIN"));
  tree_.write("app/c.so", library_with_runpath("c.so", {"b.so", "c.so", "$ORIGIN/a.so"}, "$ORIGIN"));
  tree_.link("app/loop.so", "loop.so");
  const LibraryResolution& resolution = resolve("/app/a.so");
  EXPECT_THAT(told(resolution),
              ElementsAre("b.so found /app/b.so", "c.so found /app/c.so", "$ORIGIN/a.so found /app/a.so"));
  EXPECT_FALSE(libraries_->at("/app/loop.so"));
}

/// The layouts of torch's wheels for both CUDA generations.
class Torch : public Resolution {
 protected:
  const std::string site_ = "venv/lib/python3.12/site-packages";  // in the tree

  void install(const std::string& component, int major) {
    const std::string cudart = "libcudart.so." + std::to_string(major);
    const std::string runpath = "$ORIGIN:$ORIGIN/../../nvidia/" + component + "/lib";
    tree_.write(site_ + "/nvidia/" + component + "/lib/" + cudart, library(cudart, {}, {"cudaMalloc"}));
    tree_.write(site_ + "/torch/lib/libtorch_global_deps.so",
                library_with_runpath("libtorch_global_deps.so", {cudart}, runpath));
    tree_.write(site_ + "/torch/lib/libc10.so", library("libc10.so", {}, {"_ZN3c105ErrorC1Ev"}));
    tree_.write(site_ + "/torch/lib/libtorch.so", library_with_runpath("libtorch.so", {"libc10.so", cudart}, runpath));
  }
  const LibraryResolution& extension_after_torch(const std::string& path) {
    libraries_.emplace(tree_.root());
    resolver_.emplace(*libraries_, LoaderContext{});
    resolver_->load_as_torch_does("/" + site_);
    return *resolver_->resolve(path, SymbolCheck::check).value();
  }
};

TEST_F(Torch, WhatItLoadsSatisfiesExtensions) {
  for (const auto& [component, major] : {std::pair{"cuda_runtime", 12}, std::pair{"cu13", 13}}) {
    install(component, major);
    const std::string cudart = "libcudart.so." + std::to_string(major);
    tree_.write(site_ + "/flash.so",
                library("", {"libc10.so", "libtorch.so", cudart}, {}, {"_ZN3c105ErrorC1Ev", "cudaMalloc"}));
    const LibraryResolution& resolution = extension_after_torch("/" + site_ + "/flash.so");
    EXPECT_TRUE(resolution.complete()) << component;
    EXPECT_THAT(resolution.undefined, IsEmpty());
  }
  tree_.write(site_ + "/old.so", library("", {"libcudart.so.11"}));
  EXPECT_THAT(told(extension_after_torch("/" + site_ + "/old.so")),
              ElementsAre("libcudart.so.11 not found, other libcudart.so.13"));
}

TEST_F(Torch, PreloadsTheNvidiaWheelsWhereItsOwnPathsDoNotReachThem) {
  install("cu13", 13);
  tree_.write(site_ + "/torch/lib/libtorch_global_deps.so", library("libtorch_global_deps.so", {"libcudart.so.13"}));
  tree_.write(site_ + "/x.so", library("", {"libcudart.so.13"}, {}, {"cudaMalloc"}));
  EXPECT_TRUE(extension_after_torch("/" + site_ + "/x.so").complete());
}

TEST_F(Torch, CudaLibrariesAreFoundWithTheirPlaces) {
  install("cu13", 13);
  tree_.write("usr/local/cuda-13.0/lib64/libcudart.so.13.0.96", library("libcudart.so.13"));
  tree_.link("usr/local/cuda-13.0/lib64/libcudart.so.13", "libcudart.so.13.0.96");
  tree_.link("usr/local/cuda-13.0/lib64/libcudart.so", "libcudart.so.13");
  tree_.write("usr/local/cuda-13.0/compat/libcuda.so.590.48.01", library("libcuda.so.1"));
  tree_.write("usr/lib/aarch64-linux-gnu/libcuda.so.580.95.05", library("libcuda.so.1"));
  tree_.link("usr/lib/aarch64-linux-gnu/libcuda.so.1", "libcuda.so.580.95.05");
  tree_.write("etc/ld.so.cache", loader_cache_bytes({{"libcuda.so.1", "/usr/lib/aarch64-linux-gnu/libcuda.so.1"},
                                                     {"libcudart.so.12", "/gone/libcudart.so.12"}}));
  libraries_.emplace(tree_.root());
  LoaderResolver resolver(*libraries_, LoaderContext{});
  const CudaRuntimes runtimes = read_cuda_runtimes(resolver, {"/" + site_});
  std::vector<std::string> found;
  for (const CudaLibraryFile& file : runtimes.files)
    found.push_back(std::string(to_string(file.library)) + " " + std::to_string(static_cast<int>(file.place)) + " " +
                    file.version.value_or("-"));
  EXPECT_THAT(found, ElementsAre("libcudart 1 -", "libcudart 2 13.0.96", "libcuda 0 580.95.05", "libcuda 3 590.48.01"));
  EXPECT_THAT(runtimes.majors(CudaLibrary::cudart, CudaPlace::environment), ElementsAre(13));
}

TEST(CudaToolVersion, IsReadFromTheTextInsideTheFile) {
  Tree tree;
  ElfBuilder builder;
  builder.sections = {{".rodata", std::string((std::size_t{1} << 20) - 20, 'x') +
                                      "Cuda compilation tools, release 12.9, V12.9.86" + std::string(5000, 'y')}};
  tree.write("ptxas", builder.bytes());
  EXPECT_EQ(read_cuda_tool_version(tree.root(), "ptxas").value(), "12.9.86");
  builder.sections = {{".rodata", "Cuda compilation tools, release 12.9"}};
  tree.write("ptxas", builder.bytes());
  EXPECT_FALSE(read_cuda_tool_version(tree.root(), "ptxas"));
}

TEST(CudaVersionOfDriver, IsKnowledge) {
  EXPECT_EQ(*cuda_version_of_driver("580.95.05"), "13.0");
  EXPECT_FALSE(cuda_version_of_driver("999.1"));
  EXPECT_FALSE(cuda_version_of_driver(""));
}

TEST(LoaderCache, BothFormats) {
  for (const bool with_older : {false, true}) {
    const std::string bytes =
        loader_cache_bytes({{"liba.so.1", "/lib/liba.so.1"}, {"libb.so.2", "/x/libb.so.2"}}, with_older);
    const auto entries = parse_loader_cache(bytes, ElfMachine::aarch64, "ld.so.cache");
    ASSERT_TRUE(entries) << entries.error().message;
    ASSERT_EQ(entries->size(), 2U);
    EXPECT_EQ(entries->at(1).path, "/x/libb.so.2");
    EXPECT_THAT(parse_loader_cache(bytes, ElfMachine::x86_64, "ld.so.cache").value(), IsEmpty());
    for (std::size_t size = 0; size + 4 < bytes.size(); ++size)
      EXPECT_FALSE(parse_loader_cache(bytes.substr(0, size), ElfMachine::aarch64, "ld.so.cache")) << size;
  }
  std::string absurd = loader_cache_bytes({{"liba.so.1", "/lib/liba.so.1"}});
  absurd.replace(20, 4, "\xff\xff\xff\xff");
  EXPECT_FALSE(parse_loader_cache(absurd, ElfMachine::aarch64, "ld.so.cache"));
}

TEST(NormalPath, IsOfTheTextAlone) {
  EXPECT_EQ(normal_path("/a/./b//../c/"), "/a/c");
  EXPECT_EQ(normal_path("a/../../.."), "/");
  EXPECT_EQ(normal_path(""), "/");
}

TEST(LibraryName, ByTheNameAlone) {
  for (const char* const name : {"libx.so", "libx.so.1.2", "_C.abi3.so", "x.cpython-312-aarch64-linux-gnu.so"})
    EXPECT_TRUE(is_library_name(name)) << name;
  for (const char* const name : {"", ".so", "x.py", "x.so.txt", "x.sox"}) EXPECT_FALSE(is_library_name(name)) << name;
}

}  // namespace
}  // namespace sparkops::facts
