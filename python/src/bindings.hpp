// The parts of the module, one per file, and the types that several of them share.
#pragma once

#include <pybind11/pybind11.h>
#include <cgmca/device_matrix.hpp>
#include <cgmca/fit.hpp>
#include <cgmca/model.hpp>
#include <cgmca/summary.hpp>
#include <cgmca/translate.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "interruptible.hpp"

// A ridge is a number or "auto".
template <>
struct pybind11::detail::type_caster<cgmca::Ridge> {
  PYBIND11_TYPE_CASTER(cgmca::Ridge, const_name("float | str"));
  bool load(handle given, bool convert) {
    make_caster<double> number;
    if (!isinstance<str>(given) && !number.load(given, convert)) return false;
    value = isinstance<str>(given) ? cgmca::Ridge::from_data() : cgmca::Ridge(cast_op<double>(number));
    return true;
  }
  static handle cast(const cgmca::Ridge& ridge, return_value_policy, handle) {
    return (ridge.automatic ? object(str("auto")) : object(float_(ridge.value))).release();
  }
};

namespace cgmca::python {

namespace py = pybind11;

class FittedModel;

void bind_errors(py::module_& module);
void bind_device_array(py::module_& module);
void bind_summary(py::module_& module);
void bind_model(py::module_& module);
void bind_maps(py::class_<FittedModel>& model);  // what a model does with samples
void bind_fit(py::module_& module);
void bind_tune(py::module_& module);
void bind_files(py::module_& module);
void bind_image(py::module_& module);

// Pickling by __getstate__ and __setstate__, with all protocols: for 0 and 1 copyreg would make an object of pybind11's
// base class, which has no C++ object, and which ends the process. The functions are those of py::pickle.
template <class Class, class GetState, class SetState>
void bind_pickle(Class& type, GetState get_state, SetState set_state) {
  type.def(py::pickle(get_state, set_state)).def("__reduce__", [](const py::object& self) {
    return py::make_tuple(py::module_::import("copyreg").attr("__newobj__"), py::make_tuple(py::type::of(self)),
                          self.attr("__getstate__")());
  });
}
// copy.copy and copy.deepcopy.
template <class Class, class Copy>
void bind_copies(Class& type, Copy copy) {
  using Own = typename Class::type;
  type.def("__copy__", [copy](Own& self) { return copy(self); })
      .def("__deepcopy__", [copy](Own& self, const py::dict&) { return copy(self); });
}
// The same for a class whose objects cannot be pickled: TypeError.
template <class Class>
void refuse_pickle(Class& type) {
  type.def("__reduce__", [](const py::object& self) -> py::object {
    const py::object name = py::type::of(self).attr("__name__");
    throw py::type_error("cannot pickle 'cgmca._core." + name.cast<std::string>() + "' object");
  });
}

Domain domain_of(int number, Index count);  // throws ValueError for anything but 1 … count

// A summary that several Python threads may use at once: the GIL does not protect it while work goes on. The lock is
// taken only without the GIL, so that neither waits for the other.
class SharedSummary {
 public:
  explicit SharedSummary(Summary summary) : impl_(std::make_shared<Impl>(std::move(summary))) {}

  // work(summary) while no other thread has it. Call with the GIL; it is released.
  template <class Work>
  auto use(Work work) {
    const py::gil_scoped_release release;
    const std::lock_guard lock(impl_->mutex);
    return work(impl_->summary);
  }
  // The same for work that Ctrl-C may leave behind: see interruptibly(). Other uses then wait for its end.
  template <class Result, class Work>
  Result use_interruptibly(Work work, const py::object& progress = py::none()) {
    return interruptibly<Result>(
        [work = std::move(work), inside = impl_](const Report& report) {
          const std::lock_guard lock(inside->mutex);
          return work(static_cast<const Summary&>(inside->summary), report);
        },
        progress);
  }
  // Matched samples, one array or data frame a domain, all of them or none. A frame's columns are put in the summary's
  // order by name; an empty summary without names takes the frame's. ValueError, TypeError, KeyboardInterrupt.
  void add(const py::tuple& arrays, const py::object& sample_weight);
  // Summaries of more samples; this one stays as it is. Arrays of numbers, with columns in the summary's order.
  std::unique_ptr<SharedSummary> with_more(const py::sequence& arrays, const py::object& sample_weight);
  std::unique_ptr<SharedSummary> merged(SharedSummary& other);
  std::unique_ptr<SharedSummary> compressed();
  // work(this summary, the other) while no other thread has one of them. Call with the GIL; it is released.
  template <class Work>
  auto use_with(SharedSummary& other, Work work) {
    const py::gil_scoped_release release;
    if (impl_ == other.impl_) {
      const std::lock_guard lock(impl_->mutex);
      return work(impl_->summary, Summary(impl_->summary));
    }
    const std::scoped_lock lock(impl_->mutex, other.impl_->mutex);
    return work(impl_->summary, other.impl_->summary);
  }

 private:
  // Of several blocks; where one fails nothing is added, except to a summary that nobody else has.
  enum class Owner { shared, alone };
  void add_in_order(const py::sequence& arrays, const std::optional<Vector>& weights, Owner owner = Owner::shared);
  void add_from_gpu(const py::tuple& arrays, const std::optional<Vector>& weights);

  struct Impl {
    explicit Impl(Summary summary_) : summary(std::move(summary_)) {}
    Summary summary;
    std::mutex mutex;
  };
  std::shared_ptr<Impl> impl_;
};

// A fitted model, never changed, and its translations, kept once computed: `exact` costs a prepared.
class FittedModel {
 public:
  explicit FittedModel(Model model_) : model(std::move(model_)) {}
  const Model model;
  Domain domain(int number) const { return domain_of(number, model.count()); }
  std::shared_ptr<const Translation> translation(Domain from, Domain to, Method method) const;
  // In the memory of a GPU, where they stay for the next call.
  DeviceMap map_there(Domain domain, Device device) const;
  DeviceMap translation_there(Domain from, Domain to, Method method, Device device) const;

 private:
  using Key = std::tuple<Domain, Domain, Method, Device>;
  template <class Make>
  DeviceMap kept_there(const Key& key, Make make) const {
    const std::lock_guard lock(mutex_);
    if (const auto kept = maps_there_.find(key); kept != maps_there_.end()) return kept->second;
    return maps_there_.emplace(key, make()).first->second;
  }

  mutable std::mutex mutex_;
  mutable std::map<Key, DeviceMap> maps_there_;
  mutable std::map<std::tuple<Domain, Domain, Method>, std::shared_ptr<const Translation>> translations_;
};

// A tuple of convert(value) for each value.
template <class Value, class Convert>
py::tuple tuple_of(const std::vector<Value>& values, const Convert& convert) {
  py::tuple result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) result[i] = convert(values[i]);
  return result;
}
template <class Value>
py::tuple tuple_of(const std::vector<Value>& values) {
  return tuple_of(values, [](const Value& value) { return value; });
}
// A text, or a list of texts; None if there is none.
template <class Text>
py::object or_none(const Text& text) {
  return text.empty() ? py::object(py::none()) : py::cast(text);
}

// Keyword arguments. TypeError for one that is not among `known`.
class Keywords {
 public:
  Keywords(const py::kwargs& given, const char* function, std::initializer_list<const char*> known);
  bool has(const char* key) const { return given_.contains(key) && !given_[key].is_none(); }
  // Sets `setting` to what was given; leaves it as it is if nothing or None was.
  template <class Setting>
  void take(const char* key, Setting& setting) const {
    if (has(key)) setting = given_[key].cast<Setting>();
  }
  template <class Value>
  void take(const char* key, PerDomain<Value>& setting) const {  // a list
    if (has(key)) setting = PerDomain<Value>(given_[key].cast<std::vector<Value>>());
  }
  void take(const char* key, Graph& setting) const;  // a word, or the weights of the edges
  void take(const char* key,
            std::vector<std::optional<Summary>>& setting) const;  // arrays or None, one for each domain

 private:
  py::dict given_;
};

// For the options of a fit: null where there is none.
std::vector<const Summary*> pointers_to(const std::vector<std::optional<Summary>>& extra);
// Raises FileNotFoundError where `path` names nothing; everything else is left to the reader.
void check_exists(const std::string& path);

}  // namespace cgmca::python
