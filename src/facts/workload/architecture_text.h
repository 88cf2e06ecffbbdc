#pragma once

#include <string_view>

#include "base/result.h"
#include "facts/workload/model.h"

namespace sparkops::facts {

/// Reads the widths of a decoder as a person types them: "L=32,h=4096,nh=32,nkv=8,d=128,i=14336,V=128256,tied=no".
/// Also: E (experts), k (active), m (their width), shared (width of shared experts), dense (leading dense layers),
/// window (tokens; of all layers) or window with every=N (all but every Nth), act=swiglu|gelu, bias=yes|no,
/// pos (learned positions). nkv defaults to nh, d to h / nh. The family is "generic". Errors: usage, naming the part.
[[nodiscard]] Result<Architecture> parse_architecture(std::string_view text);

}  // namespace sparkops::facts
