// Filters and quality measures for images, as MATLAB's Image Processing Toolbox defines them.
//
// An image of height h and width w is a column of h·w numbers, row by row as IDX and PNG files store them: pixel (i, j)
// is entry i·w + j. Every function takes many images at once, one a column (one image is a single column), and uses as
// many threads as BLAS does; each image's result is the same bits whatever the number of images or threads.
// All throw WrongDimension where rows ≠ h·w or two sets of images differ in shape.
//
// Example:
//   const ImageSize size{3, 4};  // 12 features
//   const Matrix smooth = medfilt2(wiener2(X2, size), size);
//   std::cout << ssim(mat2gray(smooth), mat2gray(X1), size).mean() << "\n";
#pragma once

#include <cgmca/types.hpp>

#pragma GCC visibility push(default)
namespace cgmca {

// Height and width of an image, in pixels.
struct ImageSize {
  Index height, width;  // h, w
};

// Adaptive noise filter, wiener2(x, [3 3]).   images: h·w×n → h·w×n
// With μ, v the mean and variance over each pixel's 3×3 neighbourhood (zero padding, divided by 9) and ν the mean of v
// over the image:   y = μ + max(0, v - ν)/max(v, ν) · (x - μ);   y = μ where max(v, ν) = 0
Matrix wiener2(const MatrixView& images, ImageSize size);

// Median filter, medfilt2(x, [3 3]), with zero padding.   images: h·w×n → h·w×n
Matrix medfilt2(const MatrixView& images, ImageSize size);

// Scales each image to [0, 1]: (x - min)/(max - min). A constant image is clipped to [0, 1].   images: h·w×n → h·w×n
Matrix mat2gray(const MatrixView& images);

// Structural similarity, ssim(x, y), of each pair of columns for a dynamic range of 1.   h·w×n twice → n
// The mean over all pixels of
//   (2 μx μy + C1)(2 σxy + C2) / ((μx² + μy² + C1)(σx² + σy² + C2)),   C1 = 0.01², C2 = 0.03²
// with moments weighted by an 11×11 Gaussian of standard deviation 1.5, replicate padding.
Vector ssim(const MatrixView& images, const MatrixView& references, ImageSize size);

// Peak signal-to-noise ratio, psnr(x, y), in dB: 10 log10(1/mean (x - y)²), infinite for equal images.
// h·w×n twice → n
Vector psnr(const MatrixView& images, const MatrixView& references);

}  // namespace cgmca
#pragma GCC visibility pop
