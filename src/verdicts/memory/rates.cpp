#include "verdicts/memory/rates.h"

namespace sparkops::verdicts {

Known<SwapRates> swap_rates(const facts::Memory& memory) {
  if (!memory.counters) return memory.counters.as_unknown();
  if (!memory.earlier_counters) return memory.earlier_counters.as_unknown();
  const facts::VmCounters& now = *memory.counters;
  const facts::VmCounters& before = *memory.earlier_counters;
  constexpr double k_ms_per_s = 1000;
  SwapRates rates;
  rates.window_s = static_cast<double>(now.taken.unix_ms - before.taken.unix_ms) / k_ms_per_s;
  if (rates.window_s <= 0) return unknown("no time lies between the two readings of vmstat");
  for (const auto* const counter :
       {&now.pages_swapped_in, &now.pages_swapped_out, &before.pages_swapped_in, &before.pages_swapped_out})
    if (!*counter) return counter->as_unknown();
  const auto pages_in = *now.pages_swapped_in - *before.pages_swapped_in;
  const auto pages_out = *now.pages_swapped_out - *before.pages_swapped_out;
  if (pages_in < 0 || pages_out < 0) return unknown("a counter of vmstat ran backwards");
  rates.in_pages_per_s = static_cast<double>(pages_in) / rates.window_s;
  rates.out_pages_per_s = static_cast<double>(pages_out) / rates.window_s;
  return {rates, {Origin::measured, {}}};
}

}  // namespace sparkops::verdicts
