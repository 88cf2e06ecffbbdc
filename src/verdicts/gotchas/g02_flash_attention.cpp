#include "verdicts/gotchas/gotcha.h"

namespace sparkops::verdicts {

Finding check_g02_flash_attention(const PreflightFacts&) {
  Finding finding = skipped("G2", "flash-attn and Unsloth are not looked at by this version");
  finding.where = Where::environment;
  finding.fixes.push_back({.run = "pip list 2>/dev/null | grep -i -E 'flash.attn|unsloth'",
                           .instruction = "with both installed, Unsloth replaces SDPA by flash-attn without saying so",
                           .needs_root = false,
                           .changes = "",
                           .verify = ""});
  return finding;
}

}  // namespace sparkops::verdicts
