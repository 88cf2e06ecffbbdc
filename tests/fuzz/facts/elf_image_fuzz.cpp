#include <cstdint>
#include <cstdlib>
#include <string>

#include "facts/software/elf_image.h"
#include "facts/software/elf_symbols.h"

/// Any bytes as a library: an error, or headers and symbols within their bounds.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sparkops::facts;
  const auto file = sparkops::open_bytes(std::string(reinterpret_cast<const char*>(data), size), "fuzz.so");
  const auto image = read_elf_image(*file);
  if (!image) return 0;
  const auto symbols = ElfSymbols::open(file, *image);
  if (!symbols) return 0;
  const auto undefined = (*symbols)->undefined();
  if (undefined && undefined->size() > size) std::abort();
  if (undefined)
    for (const UndefinedSymbol& symbol : *undefined) (void)demangled(symbol.name);
  const auto exported = (*symbols)->exported(1000);
  if (exported)
    for (const std::string& name : *exported) (void)(*symbols)->exports(name, "V_1");
  return 0;
}
