// The samples that a diagnosis puts on its list.
#pragma once

#include <cgmca/diagnose.hpp>

namespace cgmca {

// Adds the samples whose domains do not belong together, at this false discovery rate.
void list_pairs(Diagnosis& found, double rate);
// Adds those that are far from the others in one domain. Of a sample the least p of T² and Q in any domain counts, times
// their number.
void list_outliers(Diagnosis& found, double rate);

}  // namespace cgmca
