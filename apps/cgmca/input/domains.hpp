// Domains by their numbers and names: --from 2,3, --domains optical,radar, --cov1 to --covM.
#pragma once

#include <cgmca/model.hpp>
#include <cgmca/types.hpp>
#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace cgmca::cli {

inline constexpr std::size_t kNumbered = 99;  // options of one name, as --cov1 to --cov99

// "pairs" of two domains, "matched samples" of more.
std::string matched_noun(Index domains);

// "domain 2", "domains 1 and 3"
std::string domains_text(const std::vector<Domain>& domains);

// Those that an option names by number or by the name they have in the model, as "2" or "radar,3". Throws UsageError
// where there is no such domain, or one is named twice.
std::vector<Domain> parse_domains(const std::string& option, const std::string& text, const Model& model);
Domain parse_domain(const std::string& option, const std::string& text, const Model& model);

// Throws UsageError where the model has another number of domains. `otherwise`: what else could be done.
void check_inputs(std::size_t inputs, const Model& model, const std::string& otherwise = {});

// --NAME1, --NAME2, … for the domains; `values` gets kNumbered entries, empty where not given. The help shows the first
// three.
void add_numbered_options(CLI::App& command, const std::string& name, const std::string& option_text,
                          std::vector<std::string>& values,
                          const std::function<std::string(std::size_t number)>& description);
// Throws UsageError where one is given beyond the last domain.
void check_numbered(const std::string& name, const std::vector<std::string>& values, Index domains);

}  // namespace cgmca::cli
