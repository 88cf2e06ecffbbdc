#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "facts/machine/nvml_abi.h"
#include "facts/machine/nvml_recording.h"

namespace sparkops::facts {

/// The name the dynamic linker is asked for; runtime-only installs and containers have no bare ".so".
inline constexpr const char* k_nvml_library = "libnvidia-ml.so.1";

/// The functions of a loaded NVML library, each looked up when it is called: a function that the library lacks is an
/// answer of kind no_symbol, never a call. Values come back in NVML's units.
class NvmlLibrary {
 public:
  using Device = nvml_abi::Device;

  /// Errors: not_found, unsupported (there, but cannot be loaded). The library stays loaded for ever: a thread may be
  /// inside it.
  [[nodiscard]] static Result<NvmlLibrary> load();

  [[nodiscard]] NvmlAnswer plain(const char* symbol) const;           ///< ()
  [[nodiscard]] NvmlAnswer system_text(const char* symbol) const;     ///< (char*, u32)
  [[nodiscard]] NvmlAnswer system_integer(const char* symbol) const;  ///< (i32*)
  [[nodiscard]] NvmlAnswer count(const char* symbol) const;           ///< (u32*)
  [[nodiscard]] NvmlAnswer handle(const char* symbol, std::uint32_t index, Device& device) const;
  [[nodiscard]] NvmlAnswer text(const char* symbol, Device device) const;    ///< (dev, char*, u32)
  [[nodiscard]] NvmlAnswer number(const char* symbol, Device device) const;  ///< (dev, u32*)
  [[nodiscard]] NvmlAnswer number(const char* symbol, Device device, std::uint32_t argument) const;
  [[nodiscard]] NvmlAnswer wide_number(const char* symbol, Device device) const;  ///< (dev, u64*)
  [[nodiscard]] NvmlAnswer capability(const char* symbol, Device device) const;   ///< {"major", "minor"}
  [[nodiscard]] NvmlAnswer pair(const char* symbol, Device device) const;         ///< (dev, u32*, u32*): MIG mode
  [[nodiscard]] NvmlAnswer pci(const char* symbol, Device device) const;
  [[nodiscard]] NvmlAnswer pci_old(const char* symbol, Device device) const;
  [[nodiscard]] NvmlAnswer memory(const char* symbol, Device device) const;
  [[nodiscard]] NvmlAnswer memory_v2(const char* symbol, Device device) const;
  [[nodiscard]] NvmlAnswer utilization(const char* symbol, Device device) const;
  [[nodiscard]] NvmlAnswer temperature(const char* symbol, Device device) const;
  [[nodiscard]] NvmlAnswer margin_temperature(const char* symbol, Device device) const;
  [[nodiscard]] NvmlAnswer addressing_mode(const char* symbol, Device device) const;
  [[nodiscard]] NvmlAnswer c2c_mode(const char* symbol, Device device) const;
  /// Entries of 24 bytes (_v3, _v2) or of 16 (the plain calls).
  [[nodiscard]] NvmlAnswer processes(const char* symbol, Device device) const;
  [[nodiscard]] NvmlAnswer processes_old(const char* symbol, Device device) const;
  /// All fields in one call; one answer per id, in order. Where the call itself fails every field has its code.
  [[nodiscard]] std::vector<NvmlAnswer> fields(Device device, const std::vector<std::uint32_t>& ids) const;

 private:
  explicit NvmlLibrary(void* library) : library_(library) {}
  template <class Function>
  [[nodiscard]] Function* find(const char* symbol) const;

  void* library_ = nullptr;
};

}  // namespace sparkops::facts
