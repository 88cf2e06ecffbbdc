#pragma once

#include "base/known.h"
#include "facts/workload/model.h"
#include "verdicts/memory/run_shape.h"

namespace sparkops::verdicts {

/// The one place where a model that was read becomes the numbers of the formulas. Unknown, with the reason, when
/// neither an architecture nor exact tensor totals with a parameter count are there.
[[nodiscard]] Known<ModelShape> shape_of_model(const facts::Model& model);

/// A model of which only the count of parameters is known: widths are those of a usual decoder of that size.
[[nodiscard]] ModelShape shape_of_parameters(double parameters);

}  // namespace sparkops::verdicts
