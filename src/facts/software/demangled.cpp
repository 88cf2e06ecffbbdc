#include <cxxabi.h>

#include <cstdlib>
#include <memory>

#include "facts/software/elf_symbols.h"

namespace sparkops::facts {

namespace {

// A name can repeat its own parts, each repetition doubling the text: 24 of them give at most some megabytes, and names
// of libraries have fewer. Nesting costs stack, so long names stay as they are.
constexpr std::size_t k_longest_name = 1024;
constexpr int k_most_repetitions = 24;

/// Substitutions ("S_", "S0_") and template parameters ("T_", "T0_").
int repetitions(const std::string& name) {
  int count = 0;
  for (std::size_t i = 0; i + 1 < name.size(); ++i) {
    if (name[i] != 'S' && name[i] != 'T') continue;
    std::size_t end = i + 1;
    while (end < name.size() && ((name[end] >= '0' && name[end] <= '9') || (name[end] >= 'A' && name[end] <= 'Z')))
      ++end;
    if (end < name.size() && name[end] == '_') ++count;
  }
  return count;
}

}  // namespace

std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z") || name.size() > k_longest_name || repetitions(name) > k_most_repetitions) return name;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 && text ? std::string(text.get()) : name;
}

}  // namespace sparkops::facts
