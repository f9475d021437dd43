// An outside program that only applies a model and links the core alone.   usage: apply MODEL
#ifdef EIGEN_FIRST  // which needs the definitions of the CMake target or of the pkg-config file
#include <Eigen/Core>
#endif
#include <cgmca/model.hpp>
#include <iostream>

int main(int, char** arguments) {
  const cgmca::Model model = cgmca::Model::load(arguments[1]);
  const cgmca::DomainMap& map = model.domain(cgmca::Domain::two);
  const cgmca::Matrix X = cgmca::Matrix::Random(map.mean.size(), 7);
  const cgmca::Matrix Z = cgmca::apply(model, cgmca::Domain::two, X);
  const cgmca::Matrix expected = map.matrix() * (X.colwise() - map.mean);
  const double difference = (Z - expected).norm() / expected.norm();
  std::cout << "applied to " << Z.cols() << " samples, off by " << difference << "\n";
  return difference < 1e-12 ? 0 : 1;
}
