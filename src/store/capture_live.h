#pragma once

#include <chrono>
#include <set>
#include <string>

#include "base/known.h"
#include "base/root.h"
#include "facts/machine/nvml_recording.h"
#include "store/redaction.h"

namespace sparkops::store {

// What a capture holds that no file of the machine does.

/// The lines of the kernel's ring buffer that concern a GPU job, in the form of `dmesg --raw`; redacted. Errors:
/// permission_denied where the kernel shows it to root only.
[[nodiscard]] Result<std::string> kernel_lines(Redactor& redactor);

/// sparkops/pagecache.json: the files that hold the page cache. Error: why that is not known.
[[nodiscard]] Result<std::string> page_cache_document(const Root& root, Redactor& redactor);

/// The processes that matter to a job: those on the GPU, known servers and trainers.
[[nodiscard]] std::set<std::int64_t> pids_that_matter(const Root& root, const Known<facts::NvmlRecording>& recording);

}  // namespace sparkops::store
