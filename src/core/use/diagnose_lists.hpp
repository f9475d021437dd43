// The samples that a diagnosis puts on its list.
#pragma once

#include <cgmca/diagnose.hpp>

namespace cgmca {

// Adds the samples whose domains do not belong together, at this false discovery rate; and those of which each fits the
// other's partners best, if `law`, the p values for normal data, are at that rate: chance does not swap partners.
void list_pairs(Diagnosis& found, const Vector& law, double rate);
// Adds samples that are far from the others in one domain, by the least p of T² and Q in any domain times the number of
// these tests.
void list_outliers(Diagnosis& found, double rate);

}  // namespace cgmca
