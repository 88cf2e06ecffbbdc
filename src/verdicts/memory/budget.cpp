#include "verdicts/memory/budget.h"

namespace sparkops::verdicts {

namespace {

/// HugePages_Free × Hugepagesize when huge pages are set aside at all; nothing when the rule does not apply.
std::optional<Known<Bytes>> huge_pages_available(const facts::MemoryInfo& info) {
  if (info.huge_pages_total.value_or(0) == 0) return std::nullopt;
  if (!info.huge_pages_free) return Known<Bytes>(info.huge_pages_free.as_unknown());
  if (!info.huge_page_size) return Known<Bytes>(info.huge_page_size.as_unknown());
  return as_derived(Bytes{*info.huge_pages_free * info.huge_page_size->value});
}

Known<Bytes> minus_reserve(const Known<Bytes>& bytes, Bytes reserve) {
  return bytes.derive([&](Bytes value) { return value - reserve; });
}

}  // namespace

Budget memory_budget(const facts::MemoryInfo& info, Bytes reserve, CountSwap count_swap) {
  Budget budget;
  budget.reserve = reserve;
  budget.total = info.total;
  budget.free = info.free;
  budget.available = info.available;
  if (const auto huge = huge_pages_available(info)) {
    budget.huge_pages_rule = true;
    budget.huge_pages_rule_is_smaller = *huge && info.available && **huge < *info.available;
    budget.available = *huge;
  } else if (count_swap == CountSwap::yes && info.available && info.swap_free) {
    budget.available = as_derived(*info.available + *info.swap_free);
  }
  budget.headroom_now = minus_reserve(budget.free, reserve);
  budget.headroom_after_flush = minus_reserve(budget.available, reserve);
  return budget;
}

}  // namespace sparkops::verdicts
