#pragma once

#include <string>
#include <vector>

#include "store/capture_collector.h"

namespace sparkops::store {

/// What facts/software reads of the Python environment at hand: where its interpreter leads, where it looks, and of
/// each package name, version, requirements and platform. sparkops/software.json says that it was looked for, also
/// where there is none. What could not be had is put into `left_out`.
void capture_software(Collector& collector, std::vector<std::string>& left_out);

}  // namespace sparkops::store
