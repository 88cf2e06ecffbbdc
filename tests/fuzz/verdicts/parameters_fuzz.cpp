#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "facts/workload/architecture_reader.h"
#include "facts/workload/config_readers.h"
#include "verdicts/memory/parameters.h"

/// Any config.json that can be read is counted, or is told to be nonsense: never a negative number.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sparkops;
  const auto config = facts::parse_json({reinterpret_cast<const char*>(data), size});
  if (!config) return 0;
  const auto reading = facts::read_architecture(*config);
  if (!reading) return 0;
  const auto count = verdicts::count_parameters(reading->architecture);
  if (count && (count->total() < 0 || count->active < 0 || count->active > count->total())) std::abort();
  const verdicts::CacheValues cache = verdicts::count_cache_values(reading->architecture);
  if (cache.full < 0 || cache.sliding < 0 || cache.state < 0) std::abort();
  return 0;
}
