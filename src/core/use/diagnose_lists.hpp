// The samples that a diagnosis puts on its list.
#pragma once

#include <cgmca/diagnose.hpp>

namespace cgmca {

// Adds the samples whose domains do not belong together, at this false discovery rate.
void list_pairs(Diagnosis& found, double rate);
// Adds samples that are far from the others in one domain, by the least p of T² and Q in any domain times the number of
// these tests.
void list_outliers(Diagnosis& found, double rate);

}  // namespace cgmca
