// PairSummary.
#include <cgmca/error.hpp>

#include <fmt/format.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "support/choice.hpp"

namespace cgmca::python {
namespace {

py::bytes to_bytes(SharedSummary& summary) {
  return summary.use([](const PairSummary& own) { return own.to_bytes(); });
}

std::unique_ptr<SharedSummary> from_bytes(const py::bytes& bytes) {
  return std::make_unique<SharedSummary>(PairSummary::from_bytes(std::string_view(bytes)));
}

constexpr const char* kDoc = R"(PairSummary(n_features_x, n_features_y, accumulate='auto')

All that a fit needs to know of matched pairs, in memory that does not grow with their number.

Pairs come in blocks of any size; the summary of one set of pairs merges with that of another, from another file,
process or machine. The same pairs in the same order give the same bits however they were cut into blocks.

Parameters
----------
n_features_x, n_features_y : int
    Features of domain 1 and domain 2.
accumulate : {'auto', 'qr', 'gram'}
    'qr' is backward stable; 'gram' costs less arithmetic but squares the condition number; 'auto' uses 'gram'
    only while the conditioning of the data proves it safe.

Examples
--------
>>> import numpy as np, cgmca
>>> random = np.random.default_rng(0)
>>> X, Y = random.normal(size=(100, 3)), random.normal(size=(100, 2))
>>> monday = cgmca.PairSummary(3, 2).add(X[:60], Y[:60])
>>> tuesday = cgmca.PairSummary(3, 2).add(X[60:], Y[60:])
>>> monday.merge(tuesday)
PairSummary(3, 2) of 100 pairs
>>> cgmca.MCA().fit_summary(monday).canonical_correlations_.shape
(2,)
)";

}  // namespace

// More than one block goes to a copy, which takes the summary's place at the end.
void SharedSummary::add(const py::object& X, const py::object& Y) {
  const Samples one(X, "X"), two(Y, "Y");
  const Index per_block = block_samples(one.features() + two.features());
  if (one.count() != two.count() || one.count() <= per_block) {
    py::object keep1, keep2;
    const auto X1 = one.block(0, one.count(), keep1), X2 = two.block(0, two.count(), keep2);
    return use([&](PairSummary& own) { own.add(X1, X2); });
  }
  std::unique_lock lock(mutex_, std::defer_lock);
  {
    const py::gil_scoped_release release;
    lock.lock();
  }
  PairSummary longer = summary_;
  for_pair_blocks(one, two, per_block, [&](Index, const auto& X1, const auto& X2) { longer.add(X1, X2); });
  summary_ = std::move(longer);
}

void bind_summary(py::module_& module) {
  py::class_<SharedSummary>(module, "PairSummary", kDoc)
      .def(py::init([](Index d1, Index d2, const std::string& accumulate) {
             return std::make_unique<SharedSummary>(
                 PairSummary(d1, d2, need_choice(accumulate, kAccumulates, "way to accumulate")));
           }),
           py::arg("n_features_x"), py::arg("n_features_y"), py::arg("accumulate") = "auto")
      .def(
          "add",
          [](py::object self, const py::object& X, const py::object& Y) {
            self.cast<SharedSummary&>().add(X, Y);
            return self;
          },
          py::arg("X"), py::arg("Y"),
          "Add matched pairs: row i of X belongs to row i of Y. Returns the summary itself.\n\n"
          "C-contiguous float64 arrays are read where they lie, others block by block. If anything is wrong with "
          "them,\nor on Ctrl-C, nothing is added.")
      .def(
          "merge",
          [](py::object self, const py::object& other) {
            const PairSummary copy = other.cast<SharedSummary&>().use([](const PairSummary& own) { return own; });
            self.cast<SharedSummary&>().use([&](PairSummary& own) { own.merge(copy); });
            return self;
          },
          py::arg("other"), "Take in another summary's pairs. Returns the summary itself.")
      .def(
          "save",
          [](SharedSummary& self, const std::string& path, const std::string& note) {
            self.use([&](const PairSummary& own) { own.save(path, note); });
          },
          py::arg("path"), py::arg("note") = "",
          "Write a safetensors file, the same as ``cgmca summarize`` does; it appears whole or not at all.")
      .def_static(
          "load",
          [](const std::string& path) {
            check_exists(path);
            return std::make_unique<SharedSummary>(PairSummary::load(path));
          },
          py::arg("path"), "Read a file written by ``save`` or by ``cgmca summarize``.")
      .def_property_readonly(
          "n_samples",
          [](SharedSummary& self) { return self.use([](const PairSummary& own) { return own.samples(); }); },
          "Pairs taken in so far.")
      .def_property_readonly(
          "n_features",
          [](SharedSummary& self) {
            return self.use([](const PairSummary& own) {
              return std::pair(own.dimension(Domain::one), own.dimension(Domain::two));
            });
          },
          "Features of domain 1 and of domain 2.")
      .def_property_readonly(
          "means",
          [](SharedSummary& self) {
            const auto [mean1, mean2] = self.use(
                [](const PairSummary& own) { return std::pair(own.mean(Domain::one), own.mean(Domain::two)); });
            return py::make_tuple(to_array(mean1), to_array(mean2));
          },
          "Means of the two domains.")
      .def_property_readonly(
          "form", [](SharedSummary& self) { return self.use([](const PairSummary& own) { return name(own.form()); }); },
          "What it holds: the 'rows' themselves while they are few, else a 'qr' or 'gram' factor.")
      .def_property_readonly(
          "accumulate",
          [](SharedSummary& self) { return self.use([](const PairSummary& own) { return name(own.accumulate()); }); },
          "How it was told to accumulate.")
      .def("__repr__",
           [](SharedSummary& self) {
             return self.use([](const PairSummary& own) {
               return fmt::format("PairSummary({}, {}) of {} pair{}", own.dimension(Domain::one),
                                  own.dimension(Domain::two), own.samples(), own.samples() == 1 ? "" : "s");
             });
           })
      .def("__copy__",
           [](SharedSummary& self) {
             return std::make_unique<SharedSummary>(self.use([](const PairSummary& own) { return own; }));
           })
      .def("__deepcopy__",
           [](SharedSummary& self, const py::dict&) {
             return std::make_unique<SharedSummary>(self.use([](const PairSummary& own) { return own; }));
           })
      .def(py::pickle(&to_bytes, &from_bytes));
}

}  // namespace cgmca::python
