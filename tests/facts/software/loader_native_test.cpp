// Libraries made by this machine's compiler, and what its own loader says of them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/utsname.h>

#include <cstdlib>

#include "facts/software/loader_resolution.h"
#include "machine/tree.h"

namespace sparkops::facts {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using testing::Tree;

class Compiled : public ::testing::Test {
 protected:
  /// Compiles C++ text into a shared object; `options` as for the compiler.
  void build(const std::string& name, const std::string& source, const std::string& options) {
    tree_.write(name + ".cpp", source);
    const std::string command = "c++ -shared -fPIC -x c++ " + tree_.path(name + ".cpp") + " -x none -o " +
                                tree_.path(name) + " -L" + tree_.path("") + " " + options + " 2>" + tree_.path("log");
    if (std::system(command.c_str()) != 0) compiled_ = false;
  }
  void SetUp() override {
    build("libbase.so.3", "namespace c10 { void kept() {} void gone(int) {} }", "-Wl,-soname,libbase.so.3");
    build("libmiddle.so", "namespace c10 { void kept(); } void middle() { c10::kept(); }",
          "-l:libbase.so.3 -Wl,-soname,libmiddle.so -Wl,-rpath,'$ORIGIN' -Wl,--disable-new-dtags");
    build("ext.so",
          "#include <cmath>\n#include <string>\nnamespace c10 { void kept(); void gone(int); } void middle();\n"
          "extern \"C\" void PyInit_ext(int n) { c10::kept(); c10::gone(n); middle(); std::string "
          "s(static_cast<size_t>(n), 'x'); "
          "volatile double d = std::sin(n) + static_cast<double>(s.size()); (void)d; }",
          "-l:libbase.so.3 -l:libmiddle.so -lm -Wl,-rpath,'$ORIGIN' -Wl,--enable-new-dtags");
    if (!compiled_) GTEST_SKIP() << "no compiler for shared objects on this machine";
  }
  const LibraryResolution& resolve(const std::string& name) {
    utsname system{};
    ::uname(&system);
    LoaderContext context;
    context.machine = machine_of_architecture(system.machine);
    libraries_.emplace(Root::live());
    resolver_.emplace(*libraries_, context);
    return *resolver_->resolve(tree_.path(name), SymbolCheck::check).value();
  }
  /// Whether the machine's loader can load it with every symbol bound.
  [[nodiscard]] bool loads(const std::string& name) const {
    return std::system(("LD_BIND_NOW=1 LD_PRELOAD=" + tree_.path(name) + " /bin/true 2>&1 | grep -q . ").c_str()) != 0;
  }

  Tree tree_;
  bool compiled_ = true;
  std::optional<Libraries> libraries_;
  std::optional<LoaderResolver> resolver_;
};

TEST_F(Compiled, HeadersAreThoseThatWereAskedFor) {
  Libraries libraries(Root::live());
  const auto middle = libraries.at(tree_.path("libmiddle.so"));
  ASSERT_TRUE(middle);
  EXPECT_EQ((*middle)->image.soname, "libmiddle.so");
  EXPECT_EQ((*middle)->image.rpath, "$ORIGIN");
  EXPECT_THAT((*middle)->image.needed, IsSupersetOf({std::string("libbase.so.3")}));
  const auto ext = libraries.at(tree_.path("ext.so"));
  EXPECT_EQ((*ext)->image.runpath, "$ORIGIN");
  EXPECT_FALSE((*ext)->image.needed_versions.empty());
}

TEST_F(Compiled, WhatTheLoaderLoadsIsComplete) {
  EXPECT_TRUE(loads("ext.so"));
  const LibraryResolution& resolution = resolve("ext.so");
  EXPECT_TRUE(resolution.complete());
  EXPECT_TRUE(resolution.symbols_certain);
  EXPECT_THAT(resolution.undefined, IsEmpty());
  EXPECT_THAT(resolution.missing_versions, IsEmpty());
}

TEST_F(Compiled, ASymbolThatAnotherBuildOfALibraryLacksIsNamed) {
  build("libbase.so.3", "namespace c10 { void kept() {} }", "-Wl,-soname,libbase.so.3");
  EXPECT_FALSE(loads("ext.so"));
  const LibraryResolution& resolution = resolve("ext.so");
  ASSERT_EQ(resolution.undefined.size(), 1U);
  EXPECT_EQ(demangled(resolution.undefined[0].name), "c10::gone(int)");
}

TEST_F(Compiled, ALibraryThatIsGoneIsNamedWithWhoNeedsIt) {
  std::filesystem::remove(tree_.path("libbase.so.3"));
  EXPECT_FALSE(loads("libmiddle.so"));
  const LibraryResolution& resolution = resolve("libmiddle.so");
  EXPECT_FALSE(resolution.complete());
  ASSERT_FALSE(resolution.needs.empty());
  EXPECT_EQ(resolution.needs[0].soname, "libbase.so.3");
  EXPECT_EQ(resolution.needs[0].status, NeedStatus::not_found);
  EXPECT_EQ(resolution.needs[0].needed_by, tree_.path("libmiddle.so"));
}

TEST_F(Compiled, AVersionThatALibraryDoesNotDefineIsNamed) {
  tree_.write("two", "V_1 { global: *kept*; local: *; }; V_2 { global: *gone*; } V_1;");
  build("libbase.so.3", "namespace c10 { void kept() {} void gone(int) {} }",
        "-Wl,-soname,libbase.so.3 -Wl,--version-script=" + tree_.path("two"));
  build("user.so", "namespace c10 { void gone(int); } void use() { c10::gone(1); }",
        "-l:libbase.so.3 -Wl,-rpath,'$ORIGIN'");
  EXPECT_TRUE(resolve("user.so").missing_versions.empty());
  EXPECT_TRUE(resolve("user.so").undefined.empty());
  tree_.write("one", "V_1 { global: *kept*; local: *; };");
  build("libbase.so.3", "namespace c10 { void kept() {} }",
        "-Wl,-soname,libbase.so.3 -Wl,--version-script=" + tree_.path("one"));
  const LibraryResolution& resolution = resolve("user.so");
  ASSERT_EQ(resolution.missing_versions.size(), 1U);
  EXPECT_EQ(resolution.missing_versions[0].version, "V_2");
  EXPECT_FALSE(loads("user.so"));
}

}  // namespace
}  // namespace sparkops::facts
