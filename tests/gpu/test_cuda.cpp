// Whole fits on the GPU give the answers of the processor.
#include <nlohmann/json.hpp>

#include "cuda_testing.hpp"

namespace cgmca::testing {
namespace {

Summary summarized(const MatchedSamples& X, Device device, Accumulate accumulate = Accumulate::automatic) {
  std::vector<DomainInfo> domains;
  for (const SampleView& samples : X) domains.emplace_back(samples.rows());
  Summary summary(std::move(domains), accumulate, device);
  summary.add(X);
  return summary;
}

Covariance parse(const std::string& spec) {
  const auto colon = spec.find(':');
  const std::string kind = spec.substr(0, colon), value = spec.substr(colon + 1);
  if (kind == "identity") return Covariance::identity(std::stol(value));
  if (kind == "data1") return Covariance::data(Domain::one, std::stol(value));
  return Covariance::matrix(read_npy(fixture("oracle/" + value)));
}

class CudaOracle : public ::testing::TestWithParam<std::string> {};

TEST_P(CudaOracle, GivesTheKnownAnswer) {
  CGMCA_NEEDS_GPU();
  std::ifstream in(fixture("oracle/" + GetParam() + ".json"));
  const nlohmann::json answer = nlohmann::json::parse(in);
  const Matrix X1 = read_npy(fixture("oracle/" + GetParam() + ".x1.npy"));
  const Matrix X2 = read_npy(fixture("oracle/" + GetParam() + ".x2.npy"));
  const Covariance c1 = parse(answer["cov"][0]), c2 = parse(answer["cov"][1]);
  FitOptions on_gpu;
  on_gpu.device = Device::cuda;
  const Model cpu = fit(X1, X2, c1, c2), gpu = fit(X1, X2, c1, c2, on_gpu);
  expect_same_answer(gpu, cpu);
  const double objective = answer["objective"];
  EXPECT_NEAR(gpu.certificate.objective, objective, 1e-10 * objective);
  EXPECT_EQ(gpu.certificate.route.substr(0, 5), "cuda ");
}

INSTANTIATE_TEST_SUITE_P(Cases, CudaOracle,
                         ::testing::Values("data1_rank_t", "k_above_both_ranks", "needs_completion",
                                           "rank_deficient_x1", "tall_general", "tall_identity"));

struct Shape {
  Index d1, d2, n, k;
  bool dependent = false, ill_conditioned = false;
};

class CudaFits : public ::testing::TestWithParam<Shape> {};

TEST_P(CudaFits, InEveryFormAsTheProcessor) {
  CGMCA_NEEDS_GPU();
  const Shape shape = GetParam();
  Random random(1);
  Pairs pairs = random_pairs(random, shape.d1, shape.d2, shape.n, 1.0);
  pairs.X1.row(1).setConstant(3);
  if (shape.dependent) pairs.X1.row(2) = pairs.X1.row(0);
  if (shape.ill_conditioned) pairs.X2.row(0) *= 1e-7;
  const Vector weights = random.matrix(shape.n, 1).cwiseAbs();
  const Covariance plain = Covariance::identity(shape.k), data = Covariance::data(Domain::one, shape.k);
  for (const Accumulate accumulate : kAccumulates) {
    if (accumulate == Accumulate::gram && shape.ill_conditioned) continue;  // there the two round differently
    const Summary cpu = summarized({pairs.X1, pairs.X2}, Device::cpu, accumulate);
    const Summary gpu = summarized({pairs.X1, pairs.X2}, Device::cuda, accumulate);
    EXPECT_EQ(gpu.form(), cpu.form()) << name(accumulate);
    expect_same_answer(fit(gpu, plain, plain), fit(cpu, plain, plain));
    expect_same_answer(fit(gpu, data, data), fit(cpu, data, data));
    FitOptions there;
    there.device = Device::cuda;
    expect_same_answer(fit(cpu, plain, plain, there), fit(cpu, plain, plain));  // summed here, fitted there
    FitOptions ridge = there;
    ridge.ridge = {Ridge(0.1), Ridge::from_data()};
    ridge.max_rank = {shape.k + 1, 0};
    FitOptions ridge_here = ridge;
    ridge_here.device = Device::cpu;
    expect_same_answer(fit(gpu, plain, plain, ridge), fit(cpu, plain, plain, ridge_here));
    Summary weighted_cpu({shape.d1, shape.d2}, accumulate),
        weighted_gpu({shape.d1, shape.d2}, accumulate, Device::cuda);
    weighted_cpu.add({pairs.X1, pairs.X2}, weights);
    weighted_gpu.add({pairs.X1, pairs.X2}, weights);
    expect_same_answer(fit(weighted_gpu, plain, plain), fit(weighted_cpu, plain, plain));
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, CudaFits,
                         ::testing::Values(Shape{8, 6, 20, 3}, Shape{8, 6, 9000, 3}, Shape{40, 30, 12, 3},
                                           Shape{8, 6, 9000, 3, true}, Shape{8, 6, 9000, 3, false, true},
                                           Shape{8, 6, 300, 3, true, true}, Shape{120, 90, 3000, 45},
                                           Shape{300, 200, 120, 50}, Shape{200, 150, 2000, 60, true, true}),
                         [](const auto& instance) {
                           const Shape& s = instance.param;
                           return std::to_string(s.d1) + "_" + std::to_string(s.d2) + "_" + std::to_string(s.n) +
                                  (s.dependent ? "_dependent" : "") + (s.ill_conditioned ? "_ill" : "");
                         });

TEST(Cuda, SinglePrecisionAndSamplesOnTheDeviceGiveTheSameSummary) {
  CGMCA_NEEDS_GPU();
  Random random(4);
  const Pairs pairs = random_pairs(random, 60, 40, 7000);
  const Eigen::MatrixXf single = pairs.X2.cast<float>();
  const Covariance C = Covariance::identity(20);
  const linalg::Backend& gpu = backend_of(Device::cuda);
  const linalg::Array there = gpu.upload(pairs.X1);
  const Eigen::Map<const Matrix> resident(there.data(), 60, 7000);
  const Model cpu = fit(summarized({pairs.X1, single}, Device::cpu), C, C);
  expect_same_answer(fit(summarized({pairs.X1, single}, Device::cuda), C, C), cpu);
  expect_same_answer(fit(summarized({resident, single}, Device::cuda), C, C), cpu);
  // A few at a time, so that some wait on the host, and with weights of 0.
  Summary blocks({60, 40}, Accumulate::automatic, Device::cuda), whole({60, 40});
  Vector weights = Vector::Ones(7000);
  weights.head(10).setZero();
  for (Index first = 0; first < 7000; first += 700) {
    blocks.add({resident.middleCols(first, 700), single.middleCols(first, 700)}, weights.segment(first, 700));
  }
  whole.add({pairs.X1, single}, weights);
  expect_same_answer(fit(blocks, C, C), fit(whole, C, C));
}

TEST(Cuda, ValuesThatAreNotFiniteAreFoundOnTheDevice) {
  CGMCA_NEEDS_GPU();
  Random random(5);
  Pairs pairs = random_pairs(random, 6, 5, 1000);
  pairs.X1(2, 777) = NAN;
  const linalg::Array there = backend_of(Device::cuda).upload(pairs.X1);
  const Eigen::Map<const Matrix> resident(there.data(), 6, 1000);
  Summary summary({6, 5}, Accumulate::automatic, Device::cuda);
  try {
    summary.add(resident, pairs.X2);
    FAIL() << "not found";
  } catch (const NotFinite& problem) {
    EXPECT_EQ(problem.row, 777);
    EXPECT_EQ(problem.column, 2);
  }
  EXPECT_EQ(summary.samples(), 0);
}

TEST(Cuda, SummariesOfBothMergeAndTravel) {
  CGMCA_NEEDS_GPU();
  Random random(3);
  const Pairs first = random_pairs(random, 50, 40, 6000), second = random_pairs(random, 50, 40, 5000);
  const Covariance C = Covariance::identity(20);
  for (const Accumulate accumulate : kAccumulates) {
    Summary all = summarized({first.X1, first.X2}, Device::cpu, accumulate);
    const Summary cpu = all, gpu = summarized({second.X1, second.X2}, Device::cuda, accumulate);
    all.merge(summarized({second.X1, second.X2}, Device::cpu, accumulate));
    const Model expected = fit(all, C, C);
    Summary here = cpu, there = gpu;
    here.merge(gpu);
    there.merge(cpu);
    expect_same_answer(fit(here, C, C), expected);
    expect_same_answer(fit(there, C, C), expected);
    EXPECT_EQ(here.device(), Device::cpu);
    EXPECT_EQ(there.device(), Device::cuda);
    expect_same_answer(fit(Summary::from_bytes(there.to_bytes()), C, C), expected);
  }
}

TEST(Cuda, ThreeDomains) {
  CGMCA_NEEDS_GPU();
  Random random(6);
  const Matrix causes = random.matrix(6, 2000);
  std::vector<Matrix> X;
  // With less noise the covariance of correlations is the identity but for 1e-4, and f so flat that rounding moves the
  // optimum by more than 1e-9, on one processor too.
  for (const Index d : {40, 35, 50}) X.push_back(random.matrix(d, 6) * causes + 3 * random.matrix(d, 2000));
  const MatchedSamples samples(X.begin(), X.end());
  for (const Covariance& C : {Covariance::identity(4), Covariance::correlation(4)}) {
    expect_same_answer(fit(summarized(samples, Device::cuda), {C}), fit(summarized(samples, Device::cpu), {C}));
  }
}

// Nearly singular, with features that are constant or depend on each other: pixels of one digit, clean and noisy.
TEST(Cuda, DigitsOfMnist) {
  CGMCA_NEEDS_GPU();
  for (const int digit : {1, 3}) {
    const std::string path = std::string(CGMCA_GPU_DATA) + "/digit" + std::to_string(digit) + ".npy";
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "needs " << path << ": run bench/gpu/export-data";
    const Matrix clean = read_npy(path) / 255;
    Random random(3);
    const Matrix noisy =
        clean.unaryExpr([&](double x) { return std::clamp(x + std::sqrt(0.1) * random.normal(), 0.0, 1.0); });
    for (const Covariance& C : {Covariance::identity(50), Covariance::data(Domain::one, 100)}) {
      for (const Accumulate accumulate : {Accumulate::automatic, Accumulate::qr}) {
        const Model cpu = fit(summarized({clean, noisy}, Device::cpu, accumulate), C, C);
        const Model gpu = fit(summarized({clean, noisy}, Device::cuda, accumulate), C, C);
        std::cout << "digit " << digit << ": " << gpu.certificate.route << " | " << cpu.certificate.route << "\n";
        expect_same_answer(gpu, cpu);
      }
    }
  }
}

TEST(Cuda, AppliesAndTranslates) {
  CGMCA_NEEDS_GPU();
  Random random(8);
  const Pairs pairs = random_pairs(random, 60, 40, 3000), fresh = random_pairs(random, 60, 40, 9000);
  const Covariance C = Covariance::identity(20);
  const Model model = fit(pairs.X1, pairs.X2, C, C);
  EXPECT_LE(relative(apply(model, Domain::one, fresh.X1, Device::cuda), apply(model, Domain::one, fresh.X1)), 1e-12);
  for (const Method method : kMethods) {
    EXPECT_LE(relative(translate(model, Domain::two, Domain::one, fresh.X2, method, {}, Device::cuda),
                       translate(model, Domain::two, Domain::one, fresh.X2, method)),
              1e-9)
        << name(method);
  }
  const Matrix Z = apply(model, Domain::two, fresh.X2);
  for (const Method method : {Method::exact, Method::lsqr}) {
    EXPECT_LE(relative(invert(model, Domain::two, Z, method, {}, Device::cuda), invert(model, Domain::two, Z, method)),
              1e-9);
  }
}

TEST(Cuda, MapsStayOnTheDevice) {
  CGMCA_NEEDS_GPU();
  Random random(9);
  const Pairs pairs = random_pairs(random, 60, 40, 3000), fresh = random_pairs(random, 60, 40, 9000);
  const Model model = fit(pairs.X1, pairs.X2, Covariance::data(Domain::one, 20), Covariance::data(Domain::one, 20));
  const DeviceMap map = device_map(model, Domain::one);
  const DeviceMatrix X = to_device(fresh.X1), from_host = map(fresh.X1);
  const DeviceMatrix from_device = map(Eigen::Map<const Matrix>(X.data(), X.rows(), X.cols()));
  EXPECT_EQ(from_device.device(), Device::cuda);
  EXPECT_EQ(from_device.to_host(), from_host.to_host());
  EXPECT_LE(relative(from_host.to_host(), apply(model, Domain::one, fresh.X1)), 1e-12);
  const Translation back = translation(model, Domain::two, Domain::one);
  const Eigen::MatrixXf single = fresh.X2.cast<float>();
  EXPECT_LE(relative(device_map(back)(single).to_host(), back(single.cast<double>())), 1e-12);
  EXPECT_TRUE(all_finite(Eigen::Map<const Matrix>(X.data(), X.rows(), X.cols())));
}

TEST(Cuda, TooLittleMemoryIsAnErrorWithFiguresBeforeTheWork) {
  CGMCA_NEEDS_GPU();
  try {
    backend_of(Device::cuda).require_room(1e15, "a test");
    FAIL() << "a petabyte";
  } catch (const DeviceError& problem) {
    EXPECT_NE(std::string(problem.what()).find("a test needs about 7450580.6 GiB"), std::string::npos)
        << problem.what();
  }
  EXPECT_THROW(backend_of(Device::cuda).zeros(Index{1} << 28, Index{1} << 20), DeviceError);
  EXPECT_EQ(linalg::download(backend_of(Device::cuda).zeros(3, 3)), Matrix::Zero(3, 3));  // and it goes on
}

}  // namespace
}  // namespace cgmca::testing
