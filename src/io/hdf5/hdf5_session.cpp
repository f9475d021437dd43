#include "io/hdf5/hdf5.hpp"

namespace cgmca::io {
namespace {

std::mutex& hdf5_mutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

Hdf5Session::Hdf5Session() : lock_(hdf5_mutex()) {
  H5Eget_auto2(H5E_DEFAULT, &previous_, &previous_data_);
  H5Eset_auto2(H5E_DEFAULT, &Hdf5Session::record, this);
}

Hdf5Session::~Hdf5Session() { H5Eset_auto2(H5E_DEFAULT, previous_, previous_data_); }

// HDF5 calls it when one of its public functions fails. The error stack begins with the cause and
// ends with that function. No exception may pass through HDF5.
herr_t Hdf5Session::record(hid_t stack, void* session) {
  Failure failure;
  const H5E_walk2_t visit = [](unsigned, const H5E_error2_t* error, void* data) -> herr_t {
    try {
      Failure& found = *static_cast<Failure*>(data);
      if (found.cause.empty() && error->desc != nullptr) found.cause = error->desc;
      if (error->func_name != nullptr) found.function = error->func_name;
    } catch (...) {
      return -1;
    }
    return 0;
  };
  H5Ewalk2(stack, H5E_WALK_UPWARD, visit, &failure);
  try {
    static_cast<Hdf5Session*>(session)->failures_.push_back(std::move(failure));
  } catch (...) {
    return -1;
  }
  return 0;
}

std::string Hdf5Session::reason() const {
  return failures_.empty() || failures_.back().cause.empty() ? "HDF5 gives no reason" : failures_.back().cause;
}

std::string Hdf5Session::reason(const std::string& function) const {
  for (auto failure = failures_.rbegin(); failure != failures_.rend(); ++failure) {
    if (failure->function == function) return failure->cause;
  }
  return {};
}

}  // namespace cgmca::io
