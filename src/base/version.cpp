#include "base/version.h"

namespace sparkops {

std::string_view version() {
  return SPARKOPS_VERSION;
}

}  // namespace sparkops
