#include <array>

#include "verdicts/gotchas/gotcha.h"

namespace sparkops::verdicts {

std::span<const GotchaCheck> gotcha_checks() {
  static constexpr std::array<GotchaCheck, 10> k_checks{{
      {"G1", check_g01_cuda_abi},
      {"G2", check_g02_flash_attention},
      {"G3", check_g03_unified_memory},
      {"G4", check_g04_thermal_and_power},
      {"G5", check_g05_bandwidth},
      {"G6", check_g06_contention},
      {"G7", check_g07_nvfp4},
      {"G8", check_g08_playbooks},
      {"G9", check_g09_container_first},
      {"G10", check_g10_parallelism},
  }};
  return k_checks;
}

}  // namespace sparkops::verdicts
