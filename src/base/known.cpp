#include "base/known.h"

namespace sparkops {

std::string to_string(const Provenance& provenance) {
  switch (provenance.origin) {
    case Origin::measured: return "measured";
    case Origin::read: return "read";
    case Origin::derived: return "derived";
    case Origin::default_value: return "default";
    case Origin::knowledge: return "knowledge:" + provenance.date;
  }
  return "read";
}

}  // namespace sparkops
