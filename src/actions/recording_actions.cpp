#include "actions/machine_actions.h"

namespace sparkops::actions {

Result<void> RecordingActions::record(std::string what) {
  const auto failure = failures.find(what);
  recorded.push_back(std::move(what));
  if (failure != failures.end()) return tl::unexpected(failure->second);
  return {};
}

Result<void> RecordingActions::write_back(int, const std::string& path) {
  return record("write back " + path);
}
Result<void> RecordingActions::give_back_pages(int, const std::string& path) {
  return record("give back " + path);
}
Result<void> RecordingActions::write_back_everything() {
  return record("write back everything");
}
Result<void> RecordingActions::drop_caches() {
  return record("drop caches");
}
Result<void> RecordingActions::compact_memory() {
  return record("compact memory");
}

}  // namespace sparkops::actions
