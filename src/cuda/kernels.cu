// What cuBLAS and cuSOLVER have no routine for: moving numbers to places, and sums along rows and columns. All of it is
// bound by memory; no matrix product and no factorization is here.
//
// Matrices are column-major with a leading dimension. embed.cpp compiles this by NVRTC when the library is built, to PTX
// that the driver turns into machine code for the GPU it finds. Sums have a fixed order, so that results repeat to the bit.
typedef long long Index;

#define KERNEL extern "C" __global__ void

// Blocks of 32×8 threads: x along a column, y across columns.
#define FOR_EACH(i, m, j, n)                                                                      \
  for (Index j = (Index)blockIdx.y * 8 + threadIdx.y; j < (n); j += (Index)gridDim.y * 8)          \
    for (Index i = (Index)blockIdx.x * 32 + threadIdx.x; i < (m); i += (Index)gridDim.x * 32)

__device__ Index place(const Index* places, Index i) { return places == nullptr ? i : places[i]; }

// to(i, j) = from(rows[i], columns[j]); all rows or columns where there is no list
KERNEL gather(double* to, Index ldt, Index m, Index n, const double* from, Index ldf, const Index* rows,
              const Index* columns) {
  FOR_EACH(i, m, j, n) to[i + j * ldt] = from[place(rows, i) + place(columns, j) * ldf];
}

// to(rows[i], columns[j]) = from(i, j)
KERNEL scatter(double* to, Index ldt, Index m, Index n, const double* from, Index ldf, const Index* rows,
               const Index* columns) {
  FOR_EACH(i, m, j, n) to[place(rows, i) + place(columns, j) * ldt] = from[i + j * ldf];
}

// The columns named become zero.
KERNEL zero_columns(double* A, Index ld, Index m, Index n, const Index* columns) {
  FOR_EACH(i, m, j, n) A[i + columns[j] * ld] = 0;
}

// A(i, j) *= by · rows[i] · columns[j]; factors that are not given are 1
KERNEL scale(double* A, Index ld, Index m, Index n, double by, const double* rows, const double* columns) {
  FOR_EACH(i, m, j, n) {
    double factor = by;
    if (rows != nullptr) factor *= rows[i];
    if (columns != nullptr) factor *= columns[j];
    A[i + j * ld] *= factor;
  }
}

// A += weight · B
KERNEL add(double* A, Index lda, Index m, Index n, const double* B, Index ldb, double weight) {
  FOR_EACH(i, m, j, n) A[i + j * lda] += weight * B[i + j * ldb];
}

KERNEL clear_lower(double* A, Index ld, Index m, Index n) {
  FOR_EACH(i, m, j, n) if (i > j) A[i + j * ld] = 0;
}

// A(i, i) = values[i], or `all` where there are none
KERNEL set_diagonal(double* A, Index ld, Index n, const double* values, double all) {
  const Index i = (Index)blockIdx.x * 256 + threadIdx.x;
  if (i < n) A[i * (ld + 1)] = values == nullptr ? all : values[i];
}

// The strictly lower triangle from the upper one, in tiles, so that both are reached in whole lines.
KERNEL mirror(double* A, Index ld, Index n) {
  __shared__ double tile[32][33];
  if (blockIdx.x > blockIdx.y) return;
  const Index row = (Index)blockIdx.x * 32, column = (Index)blockIdx.y * 32;  // row <= column: an upper tile
  for (int k = threadIdx.y; k < 32; k += 8) {
    const Index i = row + threadIdx.x, j = column + k;
    if (i < n && j < n) tile[k][threadIdx.x] = A[i + j * ld];
  }
  __syncthreads();
  for (int k = threadIdx.y; k < 32; k += 8) {
    const Index i = column + threadIdx.x, j = row + k;
    if (i < n && j < n && i > j) A[i + j * ld] = tile[threadIdx.x][k];
  }
}

// to(i, j) = (from(f, j) - origin[f]) - mean[f] with f = features[i] - start, or i where there is no list
template <class T>
__device__ void load(double* to, Index ldt, Index m, Index n, const T* from, Index ldf, const double* origin,
                     const double* mean, const Index* features, Index start) {
  FOR_EACH(i, m, j, n) {
    const Index f = features == nullptr ? i : features[i] - start;
    to[i + j * ldt] = ((double)from[f + j * ldf] - origin[f]) - mean[f];
  }
}
KERNEL load_double(double* to, Index ldt, Index m, Index n, const double* from, Index ldf, const double* origin,
                   const double* mean, const Index* features, Index start) {
  load(to, ldt, m, n, from, ldf, origin, mean, features, start);
}
KERNEL load_float(double* to, Index ldt, Index m, Index n, const float* from, Index ldf, const double* origin,
                  const double* mean, const Index* features, Index start) {
  load(to, ldt, m, n, from, ldf, origin, mean, features, start);
}

// Sets *outside where an |x| is not within the limit.
template <class T>
__device__ void look(int* outside, const T* X, Index ld, Index m, Index n, double limit) {
  bool all = true;
  FOR_EACH(i, m, j, n) all = all && fabs((double)X[i + j * ld]) <= limit;
  if (!all) *outside = 1;
}
KERNEL look_double(int* outside, const double* X, Index ld, Index m, Index n, double limit) {
  look(outside, X, ld, m, n, limit);
}
KERNEL look_float(int* outside, const float* X, Index ld, Index m, Index n, double limit) {
  look(outside, X, ld, m, n, limit);
}

enum Operation { sum = 0, absolute = 1, square = 2, largest = 3, product = 4 };

__device__ double value_of(double x, double y, int operation) {
  switch (operation) {
    case absolute:
    case largest:
      return fabs(x);
    case square:
      return x * x;
    case product:
      return x * y;
    default:
      return x;
  }
}
__device__ double joined(double a, double b, int operation) {
  if (operation != largest) return a + b;
  return a >= b || a != a ? a : b;  // NaN stays
}

// parts(i, c) = Σ of the values of row i over the c-th `chunk` of columns
KERNEL reduce_rows(double* parts, Index m, Index n, Index chunk, const double* A, Index ld, int operation) {
  __shared__ double sums[8][33];
  const Index i = (Index)blockIdx.x * 32 + threadIdx.x, first = (Index)blockIdx.y * chunk;
  const Index end = first + chunk < n ? first + chunk : n;
  double all = 0;
  if (i < m) {
    for (Index j = first + threadIdx.y; j < end; j += 8) all += value_of(A[i + j * ld], 0, operation);
  }
  sums[threadIdx.y][threadIdx.x] = all;
  __syncthreads();
  if (threadIdx.y == 0 && i < m) {
    for (int k = 1; k < 8; ++k) all += sums[k][threadIdx.x];
    parts[i + (Index)blockIdx.y * m] = all;
  }
}

// result[j] = Σ or max of the values of column j, of A alone or of A and B; blocks of 256 threads
KERNEL reduce_columns(double* result, const double* A, Index lda, Index m, Index n, const double* B, Index ldb,
                      int operation) {
  __shared__ double parts[256];
  for (Index j = blockIdx.x; j < n; j += gridDim.x) {
    double all = 0;
    for (Index i = threadIdx.x; i < m; i += 256) {
      all = joined(all, value_of(A[i + j * lda], B == nullptr ? 0 : B[i + j * ldb], operation), operation);
    }
    parts[threadIdx.x] = all;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
      if (threadIdx.x < half) {
        parts[threadIdx.x] = joined(parts[threadIdx.x], parts[threadIdx.x + half], operation);
      }
      __syncthreads();
    }
    if (threadIdx.x == 0) result[j] = parts[0];
    __syncthreads();
  }
}

// signs[j] = that of the first entry of column j that is at least `part` of its largest; blocks of 256 threads
KERNEL signs(double* signs, const double* A, Index ld, Index m, Index n, const double* largest, double part) {
  __shared__ Index first[256];
  for (Index j = blockIdx.x; j < n; j += gridDim.x) {
    const double least = part * largest[j];
    first[threadIdx.x] = m;
    for (Index i = threadIdx.x; i < m; i += 256) {
      if (fabs(A[i + j * ld]) >= least) {
        first[threadIdx.x] = i;
        break;
      }
    }
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
      if (threadIdx.x < half && first[threadIdx.x + half] < first[threadIdx.x]) {
        first[threadIdx.x] = first[threadIdx.x + half];
      }
      __syncthreads();
    }
    if (threadIdx.x == 0) signs[j] = first[0] < m && A[first[0] + j * ld] < 0 ? -1 : 1;
    __syncthreads();
  }
}
