// What is read back of a run directory: run.json, ring.bin, pid files.
#include <cstddef>
#include <cstdint>
#include <string>

#include "store/pid_file.h"
#include "store/ring_file.h"
#include "store/run_directory.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)sparkops::store::parse_run_json(text);
  (void)sparkops::store::parse_ring(text);
  (void)sparkops::store::parse_pid_file(text);
  return 0;
}
