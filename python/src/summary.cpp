// Summary.
#include <cgmca/error.hpp>
#include <cgmca/incomplete.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <filesystem>

#include "arrays.hpp"
#include "bindings.hpp"
#include "device_array.hpp"
#include "support/choice.hpp"

namespace cgmca::python {
namespace {

constexpr const char* kDoc =
    R"(Summary(*n_features, accumulate='auto', names=None, feature_names=None, device='cpu', nuisance=False)

All that a fit needs to know of matched samples, in memory that does not grow with their number.

Samples come in blocks of any size; the summary of one set of samples merges with that of another, from another file,
process or machine. The same samples in the same order give the same bits however they were cut into blocks.

Parameters
----------
*n_features : int
    Features of each domain: two numbers for pairs, more for more domains, one for samples without partners.
accumulate : {'auto', 'qr', 'gram'}
    'qr' is backward stable; 'gram' costs less arithmetic but squares the condition number; 'auto' uses 'gram'
    only while the conditioning of the data proves it safe.
names : list of str, optional
    Names of the domains.
feature_names : list of (list of str or None), optional
    Names of each domain's features. They are kept in files and in models.
device : {'cpu', 'cuda', 'auto'}
    Where samples are summed up, and where a fit of the summary is computed: 'cuda' is an NVIDIA GPU, 'auto' one if
    there is one. A RuntimeError says why it cannot be used.
nuisance : bool
    Whether the last of the domains are values of a nuisance, which a fit removes from the others: see `CGMCA.fit`.

Examples
--------
>>> import numpy as np, cgmca
>>> random = np.random.default_rng(0)
>>> X, Y = random.normal(size=(100, 3)), random.normal(size=(100, 2))
>>> monday = cgmca.Summary(3, 2).add(X[:60], Y[:60])
>>> tuesday = cgmca.Summary(3, 2).add(X[60:], Y[60:])
>>> monday.merge(tuesday)
Summary(3, 2) of 100 pairs
>>> cgmca.MCA().fit_summary(monday).canonical_correlations_.shape
(2,)
)";

constexpr const char* kAdd =
    R"(Add matched samples, an array for each domain: row i of all of them belongs together. Returns the summary itself.

C-contiguous float64 and float32 arrays are read where they lie, on a GPU too (PyTorch, CuPy) if the summary is there,
others block by block. The columns of a data frame are put in the order of ``feature_names``, with a warning; other
names are an error. A summary that is empty and has no names takes those of the frames. If anything is wrong, or on
Ctrl-C, nothing is added.

``sample_weight`` says how often each sample counts: 2 is the sample twice, 0 leaves it out.)";

constexpr const char* kMerge =
    R"(Take in another summary's samples. Returns the summary itself. Features whose names are in another order are put
right, with a warning; other names are an error.

If both were made by ``cgmca summarize`` of the same file, its samples would count twice: that is a ValueError unless
``allow_repeats``. Summaries made in memory do not know where their samples came from.)";

using Names = std::optional<std::vector<std::string>>;

std::unique_ptr<SharedSummary> make_summary(const py::args& features, const std::string& accumulate,
                                            const Names& domain_names,
                                            const std::optional<std::vector<Names>>& feature_names,
                                            const std::string& device, bool nuisance) {
  std::vector<DomainInfo> domains;
  for (const py::handle count : features) domains.emplace_back(count.cast<Index>());
  if (nuisance && !domains.empty()) domains.back().nuisance = true;
  const auto check_count = [&](std::size_t given, const char* what) {
    if (given == domains.size()) return;
    throw InvalidInput(fmt::format("{} for {} domains; there are {}", what, given, domains.size()));
  };
  if (domain_names) check_count(domain_names->size(), "names");
  if (feature_names) check_count(feature_names->size(), "feature names");
  for (std::size_t i = 0; i < domains.size(); ++i) {
    if (domain_names) domains[i].name = (*domain_names)[i];
    if (feature_names && (*feature_names)[i]) domains[i].feature_names = *(*feature_names)[i];
  }
  return std::make_unique<SharedSummary>(Summary(std::move(domains),
                                                 need_choice(accumulate, kAccumulates, "way to accumulate"),
                                                 need_choice(device, kDevices, "device")));
}

std::vector<Domain> domains_of(const Summary& summary) {
  std::vector<Domain> all;
  for (Index i = 1; i <= summary.domains(); ++i) all.push_back(static_cast<Domain>(i));
  return all;
}

// get(summary), while no other thread has it.
template <class Get>
auto locked(Get get) {
  return [get](SharedSummary& self) { return self.use(get); };
}

// A tuple of convert(get(summary, domain)) for all domains; get() without the GIL.
template <class Get, class Convert>
auto of_each_domain(Get get, Convert convert) {
  return [=](SharedSummary& self) {
    const auto values = self.use([&](const Summary& own) {
      std::vector<decltype(get(own, Domain::one))> all;
      for (const Domain domain : domains_of(own)) all.push_back(get(own, domain));
      return all;
    });
    return tuple_of(values, convert);
  };
}

std::string described(const Summary& summary) {
  std::vector<Index> features;
  for (const Domain domain : domains_of(summary)) features.push_back(summary.dimension(domain));
  const bool weighted = summary.total_weight() != static_cast<double>(summary.samples());
  return fmt::format("Summary({}) of {} {}{}{}", fmt::join(features, ", "), summary.samples(),
                     summary.domains() == 2 ? "pair" : "sample", summary.samples() == 1 ? "" : "s",
                     weighted ? fmt::format(" of the weight {:.6g}", summary.total_weight()) : "");
}

// How many features of the other summary come into another order by a merge.
Index moved_by_merge(const Summary& own, const Summary& other) {
  Index moved = 0;
  for (const Domain domain : domains_of(own)) {
    const auto &ours = own.domain(domain).feature_names, &theirs = other.domain(domain).feature_names;
    if (!ours.empty() && !theirs.empty()) moved += moved_by(order_of(ours, theirs));
  }
  return moved;
}

void add_to(Summary& summary, const MatchedSamples& X, const std::optional<Vector>& weights) {
  weights ? summary.add(X, *weights) : summary.add(X);
}

// Samples that lack domains; used with the GIL.
IncompleteSummary make_incomplete(const py::args& features, const std::string& accumulate, const Names& domain_names,
                                  const std::optional<std::vector<Names>>& feature_names) {
  const auto whole = make_summary(features, accumulate, domain_names, feature_names, "cpu", false);
  return whole->use([](const Summary& own) {
    std::vector<DomainInfo> domains;
    for (const Domain domain : domains_of(own)) domains.push_back(own.domain(domain));
    return IncompleteSummary(std::move(domains), own.accumulate());
  });
}

py::object add_incomplete(const py::object& self, const py::args& arrays, const py::object& sample_weight) {
  auto& summary = self.cast<IncompleteSummary&>();
  const std::vector<Samples> domains = samples_of(arrays);
  const std::optional<Vector> weights = weights_from(sample_weight);
  std::vector<py::object> keep(domains.size());
  MatchedSamples X;
  for (std::size_t i = 0; i < domains.size(); ++i) X.push_back(domains[i].view(0, domains[i].count(), keep[i]));
  weights ? summary.add(X, *weights) : summary.add(X);
  return self;
}

template <class Get>
auto of_each_info(Get get) {
  return [get](const IncompleteSummary& self) {
    py::list result;
    for (const Domain domain : all_domains(self.domains())) result.append(get(self.domain(domain)));
    return py::tuple(result);
  };
}

void bind_incomplete(py::module_& module) {
  py::class_<IncompleteSummary> summary(
      module, "IncompleteSummary",
      R"(IncompleteSummary(*n_features, accumulate='auto', names=None, feature_names=None)

All that a fit needs to know of samples that lack domains: a summary for each pattern of presence. Row i of all arrays
belongs together; a row with NaN lacks that domain. `CGMCA.fit_summary` takes it.)");
  summary
      .def(py::init(&make_incomplete), py::arg("accumulate") = "auto", py::arg("names") = py::none(),
           py::arg("feature_names") = py::none())
      .def("add", &add_incomplete, py::arg("sample_weight") = py::none(),
           "Take in samples, one array for each domain. Returns the summary itself.")
      .def(
          "merge",
          [](py::object self, const IncompleteSummary& other, bool allow_repeats) {
            self.cast<IncompleteSummary&>().merge(other, allow_repeats ? Repeats::allow : Repeats::refuse);
            return self;
          },
          py::arg("other"), py::arg("allow_repeats") = false,
          "Take in another one's samples. Returns the summary itself.")
      .def(
          "save", [](const IncompleteSummary& self, const std::filesystem::path& path) { self.save(path.string()); },
          py::arg("path"), "Write a safetensors file, as ``cgmca summarize --missing keep`` does.")
      .def_static(
          "load",
          [](const std::filesystem::path& path) {
            check_exists(path.string());
            return IncompleteSummary::load(path.string());
          },
          py::arg("path"), "Read such a file.")
      .def_property_readonly("n_samples", &IncompleteSummary::samples, "Samples taken in so far.")
      .def_property_readonly("total_weight", &IncompleteSummary::total_weight, "The sum of their weights.")
      .def_property_readonly("n_features", of_each_info([](const DomainInfo& one) { return py::int_(one.features); }),
                             "Features of each domain.")
      .def_property_readonly("names", of_each_info([](const DomainInfo& one) { return or_none(one.name); }),
                             "Names of the domains.")
      .def_property_readonly("feature_names",
                             of_each_info([](const DomainInfo& one) { return or_none(one.feature_names); }),
                             "Names of the features of each domain.")
      .def_property_readonly(
          "patterns",
          [](const IncompleteSummary& self) {
            py::list result;
            for (const auto& [domains, own] : self.patterns()) {
              result.append(py::make_tuple(tuple_of(domains, [](Domain domain) { return number(domain); }),
                                           own.samples(), own.total_weight()));
            }
            return py::tuple(result);
          },
          "(domains, samples, weight) of each pattern of presence.");
  bind_copies(summary, [](const IncompleteSummary& self) { return IncompleteSummary(self); });
  bind_pickle(
      summary, [](const IncompleteSummary& self) { return py::bytes(self.to_bytes()); },
      [](const py::bytes& bytes) { return IncompleteSummary::from_bytes(std::string_view(bytes)); });
}

}  // namespace

void SharedSummary::add(const py::tuple& arrays, const py::object& sample_weight) {
  const std::optional<Vector> weights = weights_from(sample_weight);
  auto [infos, empty, accumulate, device] = use([](const Summary& own) {
    std::vector<DomainInfo> domains;
    for (const Domain domain : domains_of(own)) domains.push_back(own.domain(domain));
    return std::tuple(domains, own.samples() == 0, own.accumulate(), own.device());
  });
  if (arrays.size() != infos.size()) return add_in_order(arrays, weights);  // which refuses them
  if (std::any_of(arrays.begin(), arrays.end(), on_gpu)) return add_from_gpu(arrays, weights);
  const auto names_before = tuple_of(infos, [](const DomainInfo& info) { return info.feature_names; });
  const py::tuple prepared =
      py::module_::import("cgmca._data.tables").attr("to_add")(arrays, names_before, sample_weight);
  const py::sequence ordered = prepared[0], names = prepared[1];
  bool takes_names = false;
  for (std::size_t i = 0; i < infos.size(); ++i) {
    if (!empty || !infos[i].feature_names.empty() || names[i].is_none()) continue;
    // Another number of features is refused below, by its numbers.
    if (static_cast<Index>(py::len(names[i])) != infos[i].features) continue;
    infos[i].feature_names = names[i].cast<std::vector<std::string>>();
    takes_names = true;
  }
  if (!takes_names) return add_in_order(ordered, weights);
  SharedSummary fresh(Summary(std::move(infos), accumulate, device));
  fresh.add_in_order(ordered, weights);
  use([&](Summary& own) {
    if (own.samples() == 0) {
      own = std::move(fresh.impl_->summary);
    } else {
      own.merge(fresh.impl_->summary);  // another thread was first
    }
  });
}

// Adds samples of which some are on the GPU, where they lie.
void SharedSummary::add_from_gpu(const py::tuple& arrays, const std::optional<Vector>& weights) {
  if (use([](const Summary& own) { return own.device() == Device::cpu; })) {
    throw InvalidInput("samples on a GPU for a summary on the processor: make it with device='cuda', or copy them");
  }
  std::vector<Samples> here;
  std::vector<DeviceArray> there;
  std::vector<py::object> keep(arrays.size());
  MatchedSamples X;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const std::string name = array_name(i, arrays.size());
    if (on_gpu(arrays[i])) {
      there.push_back(device_array(arrays[i], name));
      X.push_back(there.back().view());
    } else {
      here.emplace_back(arrays[i], name.c_str());
      X.push_back(here.back().view(0, here.back().count(), keep[i]));
    }
  }
  use([&](Summary& own) {
    Summary longer = own;
    add_to(longer, X, weights);
    own = std::move(longer);
  });
}

std::unique_ptr<SharedSummary> SharedSummary::with_more(const py::sequence& arrays, const py::object& sample_weight) {
  auto more = std::make_unique<SharedSummary>(use([](const Summary& own) { return own; }));
  more->add_in_order(arrays, weights_from(sample_weight), Owner::alone);
  return more;
}

std::unique_ptr<SharedSummary> SharedSummary::merged(SharedSummary& other) {
  return std::make_unique<SharedSummary>(use_with(other, [](const Summary& own, const Summary& theirs) {
    Summary both = own;
    both.merge(theirs);
    return both;
  }));
}

std::unique_ptr<SharedSummary> SharedSummary::compressed() {
  return std::make_unique<SharedSummary>(use([](const Summary& own) {
    Summary smaller = own;
    smaller.compress();
    return smaller;
  }));
}

// More than one block goes to a copy, which takes the summary's place at the end.
void SharedSummary::add_in_order(const py::sequence& arrays, const std::optional<Vector>& weights, Owner owner) {
  const std::vector<Samples> domains = samples_of(arrays);
  if (domains.empty()) throw py::type_error("add needs an array for each domain");
  // A GPU works in larger blocks.
  const bool there = use([](const Summary& own) { return own.device() != Device::cpu; });
  const Index per_block = block_samples(features_of(domains), there ? 4096 : 32), count = domains.front().count();
  const bool equal =
      std::all_of(domains.begin(), domains.end(), [&](const Samples& domain) { return domain.count() == count; });
  // Another number of weights is refused as another number of samples is: by adding all at once.
  const bool few = count <= 4 * features_of(domains);  // which may be compressed together, without a copy
  if (!equal || few || count <= per_block || (weights && weights->size() != count)) {
    std::vector<py::object> keep(domains.size());
    MatchedSamples X;
    for (std::size_t i = 0; i < domains.size(); ++i) X.push_back(domains[i].view(0, domains[i].count(), keep[i]));
    return use([&](Summary& own) { add_to(own, X, weights); });
  }
  std::unique_lock lock(impl_->mutex, std::defer_lock);
  {
    const py::gil_scoped_release release;
    lock.lock();
  }
  Summary longer = owner == Owner::alone ? std::move(impl_->summary) : impl_->summary;
  const Index before = longer.samples();
  for_blocks<MatchedSamples>(domains, per_block, [&](Index first, const MatchedSamples& X) {
    if (!weights) return longer.add(X);
    const auto mine = weights->segment(first, X.front().cols());
    longer.check(X, mine, before + first);  // which counts samples of weight 0 too
    longer.add(X, mine);
  });
  impl_->summary = std::move(longer);
}

void bind_summary(py::module_& module) {
  bind_incomplete(module);
  const auto info = [](const Summary& own, Domain domain) { return own.domain(domain); };
  py::class_<SharedSummary> summary(module, "Summary", kDoc);
  summary
      .def(py::init(&make_summary), py::arg("accumulate") = "auto", py::arg("names") = py::none(),
           py::arg("feature_names") = py::none(), py::arg("device") = "cpu", py::arg("nuisance") = false)
      .def(
          "add",
          [](py::object self, const py::args& arrays, const py::object& sample_weight) {
            self.cast<SharedSummary&>().add(arrays, sample_weight);
            return self;
          },
          py::arg("sample_weight") = py::none(), kAdd)
      .def(
          "_expect", [](SharedSummary& self, Index n) { self.use([n](Summary& own) { own.expect(n); }); },
          py::arg("n_samples"), "Says how many samples will come in all, which makes a fit of few faster.")
      .def(
          "merge",
          [](py::object self, SharedSummary& other, bool allow_repeats) {
            const Repeats repeats = allow_repeats ? Repeats::allow : Repeats::refuse;
            const Index moved = self.cast<SharedSummary&>().use_with(other, [&](Summary& own, const Summary& that) {
              own.merge(that, repeats);
              return moved_by_merge(own, that);
            });
            const std::string note =
                fmt::format("{} features of the other summary are put into the order of this one", moved);
            if (moved > 0 && PyErr_WarnEx(PyExc_UserWarning, note.c_str(), 1) != 0) throw py::error_already_set();
            return self;
          },
          py::arg("other"), py::arg("allow_repeats") = false, kMerge)
      .def("with_more", &SharedSummary::with_more, py::arg("arrays"), py::arg("sample_weight") = py::none(),
           "A new summary of these samples too, one array for each domain; this one stays as it is.")
      .def("merged", &SharedSummary::merged, py::arg("other"),
           "A new summary of the samples of both, as `merge` makes it; both stay as they are.")
      .def("compressed", &SharedSummary::compressed,
           "A new summary of the same samples with none of them waiting as rows, so that there is less to send to "
           "another\nprocess; this one stays as it is.")
      .def(
          "save",
          [](SharedSummary& self, const std::filesystem::path& path, const std::string& note) {
            self.use([&](const Summary& own) { own.save(path.string(), note); });
          },
          py::arg("path"), py::arg("note") = "",
          "Write a safetensors file, the same as ``cgmca summarize`` does; it appears whole or not at all.")
      .def_static(
          "load",
          [](const std::filesystem::path& path) {
            check_exists(path.string());
            return std::make_unique<SharedSummary>(Summary::load(path.string()));
          },
          py::arg("path"), "Read a file written by ``save`` or by ``cgmca summarize``.")
      .def_property_readonly("n_samples", locked([](const Summary& own) { return own.samples(); }),
                             "Samples taken in so far, of a weight above 0.")
      .def_property_readonly("total_weight", locked([](const Summary& own) { return own.total_weight(); }),
                             "The sum of their weights; their number if none were given.")
      .def_property_readonly("n_features",
                             of_each_domain(info, [](const DomainInfo& one) { return py::int_(one.features); }),
                             "Features of each domain.")
      .def_property_readonly("means",
                             of_each_domain([](const Summary& own, Domain domain) { return own.mean(domain); },
                                            [](const Vector& mean) { return to_array(mean); }),
                             "Means of the domains.")
      .def_property_readonly("has_nuisance", locked([](const Summary& own) {
                               return own.domain(static_cast<Domain>(own.domains())).nuisance;
                             }),
                             "Whether the last domain is a nuisance.")
      .def_property_readonly("names", of_each_domain(info, [](const DomainInfo& one) { return or_none(one.name); }),
                             "Names of the domains; None for a domain without a name.")
      .def_property_readonly("feature_names",
                             of_each_domain(info, [](const DomainInfo& one) { return or_none(one.feature_names); }),
                             "Names of the features of each domain; None for a domain without names.")
      .def_property_readonly("form", locked([](const Summary& own) { return name(own.form()); }),
                             "What it holds: the 'rows' themselves while they are few, else a 'qr' or 'gram' factor.")
      .def_property_readonly("accumulate", locked([](const Summary& own) { return name(own.accumulate()); }),
                             "How it was told to accumulate.")
      .def_property_readonly("device", locked([](const Summary& own) { return name(own.device()); }),
                             "Where it is: 'cpu' or 'cuda'.")
      .def("__repr__", locked(&described));
  bind_copies(summary, [](SharedSummary& self) {
    return std::make_unique<SharedSummary>(self.use([](const Summary& own) { return own; }));
  });
  bind_pickle(
      summary,
      [](SharedSummary& self) { return py::bytes(self.use([](const Summary& own) { return own.to_bytes(); })); },
      [](const py::bytes& bytes) {
        return std::make_unique<SharedSummary>(Summary::from_bytes(std::string_view(bytes)));
      });
}

}  // namespace cgmca::python
