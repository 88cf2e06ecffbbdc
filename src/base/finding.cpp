#include "base/finding.h"

namespace sparkops {

std::string_view to_string(Status status) {
  switch (status) {
    case Status::pass: return "pass";
    case Status::fail: return "fail";
    case Status::warn: return "warn";
    case Status::skip: return "skip";
    case Status::info: return "info";
  }
  return "skip";
}

std::string_view to_upper_string(Status status) {
  switch (status) {
    case Status::pass: return "PASS";
    case Status::fail: return "FAIL";
    case Status::warn: return "WARN";
    case Status::skip: return "SKIP";
    case Status::info: return "INFO";
  }
  return "SKIP";
}

std::string_view to_string(Where where) {
  switch (where) {
    case Where::box: return "box";
    case Where::environment: return "environment";
    case Where::workload: return "workload";
    case Where::tenant: return "tenant";
  }
  return "box";
}

std::string_view to_string(Who who) {
  switch (who) {
    case Who::you: return "you";
    case Who::root: return "root";
    case Who::hands_on: return "hands-on";
    case Who::vendor: return "vendor";
  }
  return "you";
}

}  // namespace sparkops
