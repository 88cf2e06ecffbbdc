#include "store/capture_live.h"

#include <sys/klog.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "facts/machine/kernel_log.h"
#include "facts/machine/memory.h"
#include "facts/machine/nvml_interpretation.h"
#include "facts/machine/processes.h"
#include "store/json_form.h"

namespace sparkops::store {

Result<std::string> kernel_lines(Redactor& redactor) {
  // Actions of syslog(2).
  constexpr int k_read_all = 3, k_size_of_buffer = 10;
  const int size = ::klogctl(k_size_of_buffer, nullptr, 0);
  if (size < 0) return tl::unexpected(system_error("the kernel's ring buffer (klogctl)", errno));
  std::string buffer(static_cast<std::size_t>(size), '\0');
  const int length = ::klogctl(k_read_all, buffer.data(), size);
  if (length < 0) return tl::unexpected(system_error("the kernel's ring buffer (klogctl)", errno));
  buffer.resize(static_cast<std::size_t>(length));
  std::string out;
  for (const std::string_view line : split_lines(buffer))
    if (facts::parse_kernel_line(line)) out += redactor.text(line) + "\n";
  return out;
}

Result<std::string> page_cache_document(const Root& root, Redactor& redactor) {
  const facts::Memory memory = facts::read_memory(root, facts::likely_cached_files(root, facts::LikelyFiles::thorough));
  Json document;
  document["scope"] = redactor.text(memory.cached_files_scope);
  document["files"] = Json::array();
  if (!memory.cached_files) return failure(ErrorKind::unsupported, memory.cached_files.reason());
  for (const facts::CachedFile& file : *memory.cached_files) {
    document["how"] = file.how;
    document["files"].push_back({{"path", redactor.text(printable(file.path))},
                                 {"size_bytes", file.size.value},
                                 {"cached_bytes", file.cached.value}});
  }
  constexpr int k_indent = 1;
  return document.dump(k_indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::set<std::int64_t> pids_that_matter(const Root& root, const Known<facts::NvmlRecording>& recording) {
  Known<std::vector<facts::GpuProcess>> on_gpu = unknown("NVML did not say");
  if (recording) {
    const auto inventory = facts::interpret_nvml(*recording);
    if (inventory && !inventory->gpus.empty()) on_gpu = inventory->gpus.front().latest().processes;
  }
  std::set<std::int64_t> pids;
  for (const facts::Process& process : facts::read_processes(root, on_gpu).processes) pids.insert(process.pid);
  return pids;
}

}  // namespace sparkops::store
