#include "facts/machine/nvml_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/text.h"

namespace sparkops::facts {
namespace {

using namespace nvml_abi;

/// NVML asks for 96 bytes for UUIDs and names and 80 for versions; no text it has is longer.
constexpr std::uint32_t k_text_size = 96;
/// A list may grow between asking for its length and fetching it.
constexpr int k_list_attempts = 4;
constexpr std::uint32_t k_spare_entries = 8;
/// More processes than any machine holds on one GPU; a larger answer is not believed.
constexpr std::uint32_t k_max_processes = 1U << 16;

NvmlAnswer no_symbol() {
  return {NvmlAnswer::Kind::no_symbol, 0, 0, {}};
}

NvmlAnswer returned(Return code, NvmlValue value) {
  NvmlAnswer answer;
  answer.code = code;
  if (code == nvml_code::k_success) answer.value = std::move(value);
  return answer;
}

NvmlNumber whole(std::uint64_t value) {
  return value;
}
NvmlNumber signed_whole(std::int64_t value) {
  if (value >= 0) return static_cast<std::uint64_t>(value);
  return value;
}

/// The text of a fixed-size buffer that may lack its terminator.
template <std::size_t Size>
std::string bounded_text(const char (&buffer)[Size]) {
  return printable(std::string_view(buffer, strnlen(buffer, Size)));
}

std::optional<NvmlNumber> decode(const FieldValue& field) {
  switch (field.value_type) {  // nvmlValueType_t
    case 0: return NvmlNumber(field.value.as_double);
    case 1: return whole(field.value.as_u32);
    case 2:
    case 3: return whole(field.value.as_u64);
    case 4: return signed_whole(field.value.as_i64);
    case 5: return signed_whole(field.value.as_i32);
    case 6: return whole(field.value.as_u16);
    default: return std::nullopt;
  }
}

template <class Entry>
NvmlAnswer list_of(Return (*function)(Device, std::uint32_t*, Entry*), Device device) {
  std::uint32_t capacity = k_spare_entries;
  for (int attempt = 0; attempt < k_list_attempts; ++attempt) {
    std::vector<Entry> entries(capacity);
    std::uint32_t count = capacity;
    const Return code = function(device, &count, entries.data());
    if (code == nvml_code::k_insufficient_size && count < k_max_processes) {
      capacity = count + k_spare_entries;
      continue;
    }
    if (code != nvml_code::k_success) return returned(code, {});
    std::vector<NvmlProcessEntry> list;
    for (std::uint32_t i = 0; i < std::min(count, capacity); ++i) {
      list.push_back({entries[i].pid, entries[i].used_gpu_memory});
    }
    return returned(code, std::move(list));
  }
  return returned(nvml_code::k_insufficient_size, {});
}

}  // namespace

Result<NvmlLibrary> NvmlLibrary::load() {
  void* const library = dlopen(k_nvml_library, RTLD_LAZY | RTLD_LOCAL);
  if (library != nullptr) return NvmlLibrary(library);
  const char* const text = dlerror();
  const std::string reason = text == nullptr ? "no reason given" : text;
  if (contains(reason, std::string(k_nvml_library) + ": cannot open shared object file: No such file")) {
    return failure(ErrorKind::not_found,
                   fmt::format("{}: not found (no NVIDIA driver installed, or a container started without --gpus all)",
                               k_nvml_library));
  }
  return failure(ErrorKind::unsupported, fmt::format("{} cannot be loaded: {}", k_nvml_library, printable(reason)));
}

template <class Function>
Function* NvmlLibrary::find(const char* symbol) const {
  return reinterpret_cast<Function*>(dlsym(library_, symbol));
}

NvmlAnswer NvmlLibrary::plain(const char* symbol) const {
  const auto function = find<Return()>(symbol);
  return function == nullptr ? no_symbol() : returned(function(), {});
}

NvmlAnswer NvmlLibrary::system_text(const char* symbol) const {
  const auto function = find<Return(char*, std::uint32_t)>(symbol);
  if (function == nullptr) return no_symbol();
  char buffer[k_text_size] = {};
  const Return code = function(buffer, k_text_size);
  return returned(code, bounded_text(buffer));
}

NvmlAnswer NvmlLibrary::system_integer(const char* symbol) const {
  const auto function = find<Return(std::int32_t*)>(symbol);
  if (function == nullptr) return no_symbol();
  std::int32_t value = 0;
  const Return code = function(&value);
  return returned(code, signed_whole(value));
}

NvmlAnswer NvmlLibrary::count(const char* symbol) const {
  const auto function = find<Return(std::uint32_t*)>(symbol);
  if (function == nullptr) return no_symbol();
  std::uint32_t value = 0;
  const Return code = function(&value);
  return returned(code, whole(value));
}

NvmlAnswer NvmlLibrary::handle(const char* symbol, std::uint32_t index, Device& device) const {
  const auto function = find<Return(std::uint32_t, Device*)>(symbol);
  if (function == nullptr) return no_symbol();
  return returned(function(index, &device), {});
}

NvmlAnswer NvmlLibrary::text(const char* symbol, Device device) const {
  const auto function = find<Return(Device, char*, std::uint32_t)>(symbol);
  if (function == nullptr) return no_symbol();
  char buffer[k_text_size] = {};
  const Return code = function(device, buffer, k_text_size);
  return returned(code, bounded_text(buffer));
}

NvmlAnswer NvmlLibrary::number(const char* symbol, Device device) const {
  const auto function = find<Return(Device, std::uint32_t*)>(symbol);
  if (function == nullptr) return no_symbol();
  std::uint32_t value = 0;
  const Return code = function(device, &value);
  return returned(code, whole(value));
}

NvmlAnswer NvmlLibrary::number(const char* symbol, Device device, std::uint32_t argument) const {
  const auto function = find<Return(Device, std::uint32_t, std::uint32_t*)>(symbol);
  if (function == nullptr) return no_symbol();
  std::uint32_t value = 0;
  const Return code = function(device, argument, &value);
  return returned(code, whole(value));
}

NvmlAnswer NvmlLibrary::wide_number(const char* symbol, Device device) const {
  const auto function = find<Return(Device, unsigned long long*)>(symbol);
  if (function == nullptr) return no_symbol();
  unsigned long long value = 0;
  const Return code = function(device, &value);
  return returned(code, whole(value));
}

NvmlAnswer NvmlLibrary::capability(const char* symbol, Device device) const {
  const auto function = find<Return(Device, std::int32_t*, std::int32_t*)>(symbol);
  if (function == nullptr) return no_symbol();
  std::int32_t major = 0;
  std::int32_t minor = 0;
  const Return code = function(device, &major, &minor);
  return returned(code, NvmlMembers{{"major", signed_whole(major)}, {"minor", signed_whole(minor)}});
}

NvmlAnswer NvmlLibrary::pair(const char* symbol, Device device) const {
  const auto function = find<Return(Device, std::uint32_t*, std::uint32_t*)>(symbol);
  if (function == nullptr) return no_symbol();
  std::uint32_t current = 0;
  std::uint32_t pending = 0;
  const Return code = function(device, &current, &pending);
  return returned(code, NvmlMembers{{"current", whole(current)}, {"pending", whole(pending)}});
}

NvmlAnswer NvmlLibrary::pci(const char* symbol, Device device) const {
  const auto function = find<Return(Device, PciInfo*)>(symbol);
  if (function == nullptr) return no_symbol();
  PciInfo info = {};
  const Return code = function(device, &info);
  return returned(code, NvmlMembers{{"bus_id", bounded_text(info.bus_id)},
                                    {"domain", whole(info.domain)},
                                    {"bus", whole(info.bus)},
                                    {"device", whole(info.device)},
                                    {"pci_device_id", whole(info.pci_device_id)},
                                    {"pci_subsystem_id", whole(info.pci_subsystem_id)}});
}

NvmlAnswer NvmlLibrary::pci_old(const char* symbol, Device device) const {
  const auto function = find<Return(Device, PciInfoOld*)>(symbol);
  if (function == nullptr) return no_symbol();
  PciInfoOld info = {};
  const Return code = function(device, &info);
  return returned(code, NvmlMembers{{"bus_id", bounded_text(info.bus_id_legacy)},
                                    {"domain", whole(info.domain)},
                                    {"bus", whole(info.bus)},
                                    {"device", whole(info.device)},
                                    {"pci_device_id", whole(info.pci_device_id)},
                                    {"pci_subsystem_id", whole(info.pci_subsystem_id)}});
}

NvmlAnswer NvmlLibrary::memory(const char* symbol, Device device) const {
  const auto function = find<Return(Device, Memory*)>(symbol);
  if (function == nullptr) return no_symbol();
  Memory info = {};
  const Return code = function(device, &info);
  return returned(code,
                  NvmlMembers{{"total", whole(info.total)}, {"free", whole(info.free)}, {"used", whole(info.used)}});
}

NvmlAnswer NvmlLibrary::memory_v2(const char* symbol, Device device) const {
  const auto function = find<Return(Device, MemoryV2*)>(symbol);
  if (function == nullptr) return no_symbol();
  MemoryV2 info = {};
  info.version = version_word<MemoryV2>(2);
  const Return code = function(device, &info);
  return returned(code, NvmlMembers{{"total", whole(info.total)},
                                    {"reserved", whole(info.reserved)},
                                    {"free", whole(info.free)},
                                    {"used", whole(info.used)}});
}

NvmlAnswer NvmlLibrary::utilization(const char* symbol, Device device) const {
  const auto function = find<Return(Device, Utilization*)>(symbol);
  if (function == nullptr) return no_symbol();
  Utilization rates = {};
  const Return code = function(device, &rates);
  return returned(code, NvmlMembers{{"gpu", whole(rates.gpu)}, {"memory", whole(rates.memory)}});
}

NvmlAnswer NvmlLibrary::temperature(const char* symbol, Device device) const {
  const auto function = find<Return(Device, Temperature*)>(symbol);
  if (function == nullptr) return no_symbol();
  Temperature info = {};
  info.version = version_word<Temperature>(1);
  const Return code = function(device, &info);
  return returned(code, signed_whole(info.temperature));
}

NvmlAnswer NvmlLibrary::margin_temperature(const char* symbol, Device device) const {
  const auto function = find<Return(Device, MarginTemperature*)>(symbol);
  if (function == nullptr) return no_symbol();
  MarginTemperature info = {};
  info.version = version_word<MarginTemperature>(1);
  const Return code = function(device, &info);
  return returned(code, signed_whole(info.margin));
}

NvmlAnswer NvmlLibrary::addressing_mode(const char* symbol, Device device) const {
  const auto function = find<Return(Device, AddressingMode*)>(symbol);
  if (function == nullptr) return no_symbol();
  AddressingMode info = {};
  info.version = version_word<AddressingMode>(1);
  const Return code = function(device, &info);
  return returned(code, whole(info.value));
}

NvmlAnswer NvmlLibrary::c2c_mode(const char* symbol, Device device) const {
  const auto function = find<Return(Device, C2cMode*)>(symbol);
  if (function == nullptr) return no_symbol();
  C2cMode info = {};
  const Return code = function(device, &info);
  return returned(code, whole(info.enabled));
}

NvmlAnswer NvmlLibrary::processes(const char* symbol, Device device) const {
  const auto function = find<Return(Device, std::uint32_t*, ProcessInfoV2*)>(symbol);
  return function == nullptr ? no_symbol() : list_of<ProcessInfoV2>(function, device);
}

NvmlAnswer NvmlLibrary::processes_old(const char* symbol, Device device) const {
  const auto function = find<Return(Device, std::uint32_t*, ProcessInfoV1*)>(symbol);
  return function == nullptr ? no_symbol() : list_of<ProcessInfoV1>(function, device);
}

std::vector<NvmlAnswer> NvmlLibrary::fields(Device device, const std::vector<std::uint32_t>& ids) const {
  const auto function = find<Return(Device, std::int32_t, FieldValue*)>("nvmlDeviceGetFieldValues");
  if (function == nullptr) return std::vector<NvmlAnswer>(ids.size(), no_symbol());
  std::vector<FieldValue> values(ids.size(), FieldValue{});
  for (std::size_t i = 0; i < ids.size(); ++i) values[i].field_id = ids[i];
  const Return code = function(device, static_cast<std::int32_t>(ids.size()), values.data());
  if (code != nvml_code::k_success) return std::vector<NvmlAnswer>(ids.size(), returned(code, {}));
  std::vector<NvmlAnswer> answers;
  for (const FieldValue& value : values) {
    const std::optional<NvmlNumber> decoded = decode(value);
    answers.push_back(returned(value.code, decoded ? NvmlValue(*decoded) : NvmlValue()));
  }
  return answers;
}

}  // namespace sparkops::facts
