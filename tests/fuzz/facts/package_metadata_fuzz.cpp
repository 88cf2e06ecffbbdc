#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "facts/software/distribution.h"
#include "facts/software/environment.h"
#include "facts/software/version.h"

/// Any bytes as the files of installed packages and as what stands in them: an order of versions that is none, or a
/// name that is not normal, is a mistake.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sparkops::facts;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const MarkerEnvironment spark = marker_environment("aarch64", "3.12.3");
  for (const Requirement& requirement : parse_metadata(text).requirements) {
    if (normalized_name(requirement.name) != requirement.name) std::abort();
    (void)evaluate_marker(requirement.marker, spark);
  }
  (void)parse_requires_txt(text);
  (void)parse_wheel_platform(text);
  (void)parse_pyvenv_configuration(text);
  (void)parse_torch_version(text, "torch");
  (void)evaluate_marker(text, spark);
  const auto a = parse_version(text.substr(0, size / 2)), b = parse_version(text.substr(size / 2));
  if (a && b && ((*a < *b) != (*b > *a) || (*a == *b) != (*b == *a))) std::abort();
  if (const auto specifiers = VersionSpecifiers::parse(text); specifiers && a) (void)specifiers->contains(*a);
  return 0;
}
