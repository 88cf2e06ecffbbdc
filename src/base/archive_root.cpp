#include "base/root.h"

namespace sparkops {

Result<std::shared_ptr<const Root::Backend>> parse_archive_root(std::string, std::string name) {
  return failure(ErrorKind::unsupported, name + ": capture files are not read yet");
}

}  // namespace sparkops
