// Names that are too long for their place.
#pragma once

#include <string>
#include <vector>

namespace cgmca::report {

// At most `width` columns wide, cut in the middle: "mean corpuscu…centration". A wide character (Chinese, for instance)
// counts as two columns.
std::string shortened(const std::string& name, std::size_t width);

// Each name shortened. Different names that would then look alike are shown around the part in which they differ,
// "…_gene_17_in_…", and where that is too long they are followed by their places: "gene_…_mean (17)".
std::vector<std::string> short_labels(const std::vector<std::string>& names, std::size_t width);

}  // namespace cgmca::report
