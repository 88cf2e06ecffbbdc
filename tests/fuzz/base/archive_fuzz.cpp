#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/archive.h"
#include "base/root.h"

namespace {

/// Looks at everything below a directory, as readers would.
void walk(const sparkops::Root& root, const std::string& path, int depth) {
  constexpr int k_deepest = 8;
  const auto entries = root.list(path);
  if (!entries || depth == k_deepest) return;
  for (const sparkops::DirectoryEntry& entry : *entries) {
    std::string child = path;
    child.append(path.empty() ? "" : "/").append(entry.name);
    (void)root.read(child);
    (void)root.read_end(child, 10);
    (void)root.read_link(child);
    (void)root.status(child + "/..");
    if (entry.kind == sparkops::FileKind::directory) walk(root, child, depth + 1);
  }
}

}  // namespace

/// Any bytes are an error or a tree that can be walked, and what parses is written and parsed again unchanged.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text("sparkops-machine 1\n");
  text.append(data, data + size);
  if (size > 0 && data[0] % 2 == 0) text.append("\nend\n");
  const auto entries = sparkops::parse_archive(text, "fuzz");
  if (entries) {
    const std::string written = sparkops::write_archive(*entries);
    const auto again = sparkops::parse_archive(written, "fuzz");
    if (!again || sparkops::write_archive(*again) != written) std::abort();
  }
  const auto backend = sparkops::parse_archive_root(std::move(text), "fuzz");
  if (backend) walk(sparkops::Root(*backend), "", 0);
  return 0;
}
