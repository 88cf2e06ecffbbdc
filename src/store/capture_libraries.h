#pragma once

#include <string>
#include <vector>

#include "store/capture_collector.h"

namespace sparkops::store {

/// sparkops/libraries.json: what the headers of the libraries of the Python environment at hand say, of the CUDA
/// libraries around it, and of what both need. What could not be had is put into `left_out`.
void capture_libraries(Collector& collector, std::vector<std::string>& left_out);

}  // namespace sparkops::store
