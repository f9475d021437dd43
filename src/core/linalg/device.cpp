#include "core/linalg/device.hpp"

#include <cgmca/error.hpp>

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <mutex>

#include "core/linalg/plugin.hpp"

namespace cgmca {
namespace {

constexpr const char* kLibrary = "libcgmca_cuda.so";

// Beside the file that holds this function: this library, or the program that it is linked into.
std::filesystem::path beside_us() {
  Dl_info info{};
  static const int here = 0;
  if (::dladdr(&here, &info) == 0 || info.dli_fname == nullptr) return kLibrary;
  std::filesystem::path us = info.dli_fname;
  // A program that was found by PATH has no folder in its name; the current one must not serve in its place.
  std::error_code unknown;
  if (!us.has_parent_path()) us = std::filesystem::read_symlink("/proc/self/exe", unknown);
  if (us.empty()) return kLibrary;
  return std::filesystem::absolute(us).parent_path() / kLibrary;
}

const linalg::BackendPlugin& load_plugin() {
  const std::filesystem::path beside = beside_us();
  std::error_code absent;
  const bool exists = std::filesystem::exists(beside, absent);
  void* library = ::dlopen(exists ? beside.c_str() : kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = ::dlerror();
    throw DeviceError(
        fmt::format("the CUDA back end cannot be loaded: {}. It is a library of its own, built with CGMCA_CUDA=ON and "
                    "looked for at {} and where the system looks for libraries. Use the device cpu",
                    reason == nullptr ? "no reason given" : reason, beside.string()));
  }
  auto* find = reinterpret_cast<linalg::FindPlugin*>(::dlsym(library, linalg::kPluginSymbol));
  const linalg::BackendPlugin* plugin = find == nullptr ? nullptr : find();
  if (plugin == nullptr || plugin->interface != linalg::kPluginInterface ||
      std::string(plugin->version) != CGMCA_VERSION) {
    throw DeviceError(fmt::format("{} is of another version of cgmca than {}: build both from the same source",
                                  kLibrary, CGMCA_VERSION));
  }
  return *plugin;
}

// Loaded once. After a failure the next caller tries again.
const linalg::BackendPlugin& plugin() {
  static const linalg::BackendPlugin& loaded = load_plugin();
  return loaded;
}

const linalg::Backend& cuda() {
  static const linalg::Backend& opened = plugin().open(linalg::cpu());
  return opened;
}

}  // namespace

const char* name(Device device) {
  switch (device) {
    case Device::cpu:
      return "cpu";
    case Device::cuda:
      return "cuda";
    case Device::automatic:
      return "auto";
  }
  return "?";
}

DeviceReport cuda_device() {
  try {
    return {true, plugin().describe()};
  } catch (const DeviceError& problem) {
    return {false, problem.what()};
  }
}

const linalg::Backend& backend_of(Device device) {
  if (device == Device::cpu) return linalg::cpu();
  if (device == Device::cuda) return cuda();
  try {
    return cuda();
  } catch (const DeviceError&) {
    return linalg::cpu();
  }
}

}  // namespace cgmca
