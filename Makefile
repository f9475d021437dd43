# A thin front to CMake: every target first installs what is missing (tools/install-deps), then configures and builds.
.PHONY: all deps build demo test test-bare test-engines test-interop test-browser test-pip onnx octave r test-fronts cuda test-gpu wheel deb docs docs-test
.PHONY: test-peers bench sanitize clang fuzz format tidy install clean

PREFIX ?= /usr/local
# Inputs per fuzz target.
FUZZ_RUNS ?= 2000000

all: build

deps:
	@tools/install-deps test

build: deps
	@grep -qs 'CGMCA_TESTS:BOOL=ON' build/CMakeCache.txt || cmake --preset release -DCGMCA_TESTS=ON -DCGMCA_PYTHON_PACKAGE=ON
	@cmake --build --preset release

# The library at work on two small data sets, then the paper's table and figures: out/mnist/report.html.
# Needs and builds neither tests nor the Python package, which would take most of its time.
demo:
	@tools/install-deps
	@test -f build/build.ninja || cmake --preset release -DCGMCA_TESTS=OFF -DCGMCA_PYTHON_PACKAGE=OFF
	@cmake --build --preset release --target cgmca_cli example_two_sensors
	@build/examples/example_two_sensors
	@data="$$(tools/get-mnist)" || true; build/cgmca reproduce mnist --progress plain $${data:+--data "$$data"} --out out/mnist
	@echo "report: out/mnist/report.html"

test: build
	@ctest --preset release -j "$$(nproc)"

# make demo, from a clone of the last commit, in a Debian that has git and make only (by debootstrap, as root).
test-bare:
	@tests/install/check_first_command.sh

# cgmca.spark with PySpark, and cgmca.dask with the newest Dask, both from PyPI.
test-engines: build
	@tools/install-deps engines
	@python/tests/in_venv.sh 'pandas<3' 'pyarrow<20' pyspark 'dask[array,dataframe]' distributed -- \
	  python/tests/engines/test_dask.py python/tests/engines/test_spark.py

# cgmca.to_onnx and cgmca export --onnx, with ONNX Runtime from PyPI.
onnx: build
	@tools/install-deps wheel
	@python/tests/in_venv.sh onnx onnxruntime -- python/tests/model/test_onnx.py tests/cli/test_export_onnx.py

# MATLAB's and Octave's functions, built and tested; the package for pkg install is build/octave/cgmca-octave.tar.gz.
octave: build
	@tools/install-deps octave
	@tests/fronts/check_octave build

# The R package, built, checked and tested: build/r/cgmca_*.tar.gz.
r: build
	@tools/install-deps r
	@tests/fronts/check_r build

# One model through R, the command line, Octave and ONNX Runtime; valgrind over C, Octave and R.
test-fronts: octave r
	@tools/install-deps fronts
	@python/tests/in_venv.sh onnx onnxruntime -- tests/fronts/test_chain.py
	@tests/fronts/check_memory build

# The test suites of scikit-learn, statsmodels, mvlearn and cca-zoo, from PyPI, against our estimators in place of theirs.
test-peers: build
	@tools/install-deps peer-tests
	@tools/install-peers tests
	@/usr/bin/python3 -B tests/peers/run.py build

# Files of GNU Octave and h5py, in both directions; image filters against Octave and scikit-image. Debian's own Python,
# which has Debian's h5py.
test-interop: build
	@tools/install-deps interop
	@/usr/bin/python3 tests/python/check_interop.py build/tests/io_convert build/tests/interop
	@/usr/bin/python3 tests/interop/check_image.py build/tests/test_image

# Reports and the documentation site in headless Chromium; screenshots in out/browser.
test-browser: docs
	@tools/install-deps browser
	@tests/browser/check_report.py out/browser
	@tests/browser/check_docs.py out/docs/html out/browser/docs

# The CUDA back end, the tests and the benchmark that need a GPU: compiled with a CUDA toolkit or PyPI's wheels, which
# needs no GPU, in build-cuda/release.
cuda: deps
	@test -e /usr/local/cuda/include/cusolverDn.h || tools/install-cuda-wheels
	@cmake -S . -B build-cuda/release -G Ninja -DCMAKE_BUILD_TYPE=Release -DCGMCA_WERROR=ON -DCGMCA_CUDA=ON \
	  -DCGMCA_TESTS=OFF -DCGMCA_PYTHON_PACKAGE=ON
	@cmake --build build-cuda/release --target cgmca_cuda test_cuda bench_cuda

# The tests that need a GPU; they skip, and say so, where there is none. See bench/gpu/run for a machine without packages.
test-gpu: cuda
	@cmake --build build-cuda/release --target cgmca_cli cgmca_python lose_device
	@build-cuda/release/tests/gpu/test_cuda
	@CGMCA_PROGRAM=build-cuda/release/cgmca CGMCA_LOSE_DEVICE=$(CURDIR)/build-cuda/release/tests/gpu/liblose_device.so \
	  tests/gpu/test_command.py || test $$? = 77
	@PYTHONPATH=build-cuda/release/python /usr/bin/python3 tests/gpu/test_python.py || test $$? = 77

# A manylinux wheel and an sdist in dist/, tried in a bare Debian (by debootstrap, as root) with the newest NumPy and
# scikit-learn from PyPI.
wheel:
	@tools/install-deps wheel bare
	@tools/make-wheel
	@data="$$(tools/get-mnist)" || true; tests/install/check_wheel.sh dist/cgmca-*.whl $$data

# pip install . in a fresh virtual environment, and the package's tests there.
test-pip: build
	@tools/install-deps wheel
	@python/tests/check_pip.sh

# Debian packages in dist/, looked at by lintian, installed in a bare Debian, used there and removed.
deb:
	@tools/install-deps deb docs bare
	@tools/make-deb
	@tests/install/check_deb.sh dist

# The documentation: out/docs/html/index.html.
docs: build
	@tools/install-deps docs
	@docs/build-site build out/docs

# Every code block of the README, of docs/ and of the headers' examples; the notebooks as they stand.
docs-test: build
	@tests/docs/run_blocks.py build
	@CGMCA_WHOLE_NOTEBOOKS=1 ctest --preset release -R python_notebooks

# Beside NumPy, SciPy and scikit-learn, with PEERS=all also Octave, R and (from PyPI) cca-zoo and mvlearn: bench/results/.
bench: build
	@tools/install-deps bench $(if $(filter all,$(PEERS)),peers wheel)
	@$(if $(filter all,$(PEERS)),tools/install-peers)
	@/usr/bin/python3 bench/run.py $(if $(filter all,$(PEERS)),--all-peers)

# By clang: g++ takes three times as long to compile Eigen with sanitizers (20-35 s against 5-9 s for a file of src/core).
sanitize: deps
	@tools/install-deps clang
	@cmake --preset sanitize
	@cmake --build --preset sanitize
	@ctest --preset sanitize

# Without warnings by clang, each source alone (CGMCA_UNITY=OFF), so that one that lacks an #include is found.
clang: deps
	@tools/install-deps clang
	@cmake --preset clang
	@cmake --build --preset clang --target all check_multi

fuzz: deps
	@tools/install-deps clang
	@cmake --preset fuzz
	@cmake --build --preset fuzz
	@FUZZ_RUNS=$(FUZZ_RUNS) fuzz/run

format:
	@tools/install-deps clang
	@git ls-files '*.cpp' '*.hpp' | xargs clang-format -i

tidy: build
	@tools/install-deps clang
	@git ls-files 'src/*.cpp' 'apps/*.cpp' | xargs -P 2 -n 1 clang-tidy -p build --quiet

# Builds the libraries, the command line and the package for Octave's pkg install, nothing else.
install:
	@tools/install-deps
	@test -f build/build.ninja || cmake --preset release -DCGMCA_TESTS=OFF -DCGMCA_PYTHON_PACKAGE=OFF
	@cmake --build --preset release --target cgmca cgmca_c cgmca_image cgmca_io cgmca_cli octave_package
	@cmake --install build --prefix $(PREFIX)

clean:
	@rm -rf build build-bare build-sanitize build-clang build-fuzz
