// Compiles kernels.cu by NVRTC and writes the PTX as a C++ source: run when the library is built.
//
//   embed_kernels kernels.cu kernels_ptx.cpp
#include <nvrtc.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

namespace {

bool failed(nvrtcResult result, const char* what) {
  if (result == NVRTC_SUCCESS) return false;
  std::fprintf(stderr, "embed_kernels: %s: %s\n", what, nvrtcGetErrorString(result));
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  std::ifstream file(arguments[1]);
  const std::string source{std::istreambuf_iterator<char>(file), {}};
  nvrtcProgram program = nullptr;
  if (failed(nvrtcCreateProgram(&program, source.c_str(), "kernels.cu", 0, nullptr, nullptr), "create")) return 1;
  // The oldest architecture that CUDA 13 knows: the PTX then serves every later one. No fused multiply-add, so that
  // (x - origin) - mean rounds as on the processor.
  const char* options[] = {"--gpu-architecture=compute_75", "--std=c++17", "--fmad=false"};
  const nvrtcResult compiled = nvrtcCompileProgram(program, 3, options);
  std::size_t size = 0;
  nvrtcGetProgramLogSize(program, &size);
  std::string log(size, '\0');
  nvrtcGetProgramLog(program, log.data());
  if (size > 1) std::fprintf(stderr, "%s\n", log.c_str());
  if (failed(compiled, "compile") || failed(nvrtcGetPTXSize(program, &size), "PTX")) return 1;
  std::string ptx(size, '\0');
  if (failed(nvrtcGetPTX(program, ptx.data()), "PTX")) return 1;
  ptx.resize(size - 1);  // without the zero at its end
  std::ofstream result(arguments[2]);
  result << "// Made of kernels.cu by embed_kernels.\n"
         << "#include \"cuda/context.hpp\"\n\n"
         << "namespace cgmca::cuda {\nconst char* const kKernels =\n";
  for (std::size_t begin = 0; begin < ptx.size();) {  // a line each: one literal would be too long for some compilers
    std::size_t end = ptx.find('\n', begin);
    if (end == std::string::npos) end = ptx.size();
    result << "    R\"ptx(" << ptx.substr(begin, end - begin) << ")ptx\" \"\\n\"\n";
    begin = end + 1;
  }
  result << "    ;\n}  // namespace cgmca::cuda\n";
  return result.flush() ? 0 : 1;
}
