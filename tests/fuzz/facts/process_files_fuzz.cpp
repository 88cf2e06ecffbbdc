#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "facts/machine/process_files.h"

/// Any bytes as one of the files of a process; the words of a command line lie inside the text they were cut from.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sparkops::facts;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const std::string_view word : parse_command_line(text))
    if (!word.empty() && (word.data() < text.data() || word.data() + word.size() > text.data() + text.size()))
      std::abort();
  (void)parse_environment(text);
  (void)parse_process_stat(text);
  (void)parse_process_status(text);
  (void)parse_process_cgroup(text);
  (void)parse_boot_time(text);
  return 0;
}
