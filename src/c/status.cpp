// Statuses and messages.
#include <cgmca/error.hpp>
#include <cgmca/threads.hpp>

#include <algorithm>
#include <new>

#include "c/inside.hpp"

namespace cgmca::c {
namespace {

struct Problem {
  std::string message;
  const char* kind = "none";
};

Problem& problem() {
  thread_local Problem last;
  return last;
}

cgmca_status keep(cgmca_status status, const char* kind, const char* message) noexcept {
  problem().kind = kind;
  try {
    problem().message = message;
  } catch (...) {
    problem().message.clear();  // no memory for the message
  }
  return status;
}

// The class of an InvalidInput, as one word.
const char* kind_of(const InvalidInput& error) {
  if (dynamic_cast<const TooFewSamples*>(&error)) return "tooFewSamples";
  if (dynamic_cast<const Saturated*>(&error)) return "saturated";
  if (dynamic_cast<const UnequalSamples*>(&error)) return "unequalSamples";
  if (dynamic_cast<const NotFinite*>(&error)) return "notFinite";
  if (dynamic_cast<const NoVariance*>(&error)) return "noVariance";
  if (dynamic_cast<const NotSquare*>(&error)) return "notSquare";
  if (dynamic_cast<const NotSymmetric*>(&error)) return "notSymmetric";
  if (dynamic_cast<const NotPositive*>(&error)) return "notPositive";
  if (dynamic_cast<const CommonDimension*>(&error)) return "commonDimension";
  if (dynamic_cast<const WrongDimension*>(&error)) return "wrongDimension";
  if (dynamic_cast<const MissingDomain*>(&error)) return "missingDomain";
  return "invalidInput";
}

}  // namespace

cgmca_status report() noexcept {
  try {
    throw;
  } catch (const InvalidInput& error) {
    return keep(CGMCA_INVALID_INPUT, kind_of(error), error.what());
  } catch (const Infeasible& error) {
    return keep(CGMCA_INFEASIBLE, "infeasible", error.what());
  } catch (const FormatError& error) {
    return keep(CGMCA_FORMAT, "format", error.what());
  } catch (const IoError& error) {
    return keep(CGMCA_IO, "io", error.what());
  } catch (const NumericalFailure& error) {
    return keep(CGMCA_NUMERICAL, "numerical", error.what());
  } catch (const DeviceError& error) {
    return keep(CGMCA_DEVICE, "device", error.what());
  } catch (const Stopped&) {
    return keep(CGMCA_STOPPED, "stopped", "stopped by the caller");
  } catch (const std::bad_alloc&) {
    return keep(CGMCA_MEMORY, "memory", "not enough memory");
  } catch (const std::exception& error) {
    return keep(CGMCA_INTERNAL, "internal", error.what());
  } catch (...) {
    return keep(CGMCA_INTERNAL, "internal", "an exception of an unknown kind");
  }
}

void copy_text(const std::string& text, char* to, std::size_t room) {
  const std::size_t length = std::min(text.size(), room - 1);
  std::copy_n(text.begin(), length, to);
  to[length] = '\0';
}

const char* text_at(const std::vector<std::string>& list, int64_t i) {
  return i < 0 || i >= std::ssize(list) ? nullptr : list[i].c_str();
}

void need(const void* pointer, const char* argument) {
  if (pointer == nullptr) throw InvalidInput(std::string(argument) + " is NULL");
}

}  // namespace cgmca::c

int cgmca_abi_version(void) { return CGMCA_ABI_VERSION; }

const char* cgmca_last_message(void) { return cgmca::c::problem().message.c_str(); }

const char* cgmca_last_kind(void) { return cgmca::c::problem().kind; }

int cgmca_threads(void) {
  try {
    return cgmca::threads();
  } catch (...) {
    return 0;
  }
}

cgmca_status cgmca_set_threads(int count) {
  return cgmca::c::guarded([&] { cgmca::set_threads(count); });
}
