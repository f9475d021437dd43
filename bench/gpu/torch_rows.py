#!/usr/bin/env python3
"""The same fits in PyTorch, on the same GPU: one line of JSON for each row and way.

    bench/gpu/torch_rows.py rate             the rate of dgemm
    bench/gpu/torch_rows.py D N SPEC WAY     WAY: obvious (Algorithm 1 by covariances, eigh and svd, spec data1:K)
                                             or best (Cholesky and eigh of B Bᵀ, spec identity:K)

Data lie on the device; the maps stay there. Times are medians after a warm-up (of a small fit
where one takes seconds); the residual ‖A Θ Aᵀ - C‖/‖C‖ is not timed.
"""
import json
import statistics
import sys
import time

import torch

torch.set_default_dtype(torch.float64)


def centred(X):
    return X - X.mean(dim=1, keepdim=True)


def obvious(X1, X2, k):
    """Algorithm 1 as it is written: whiten by eigenvectors of each covariance, SVD of the cross matrix."""
    n = X1.shape[1]
    C1, C2 = torch.cov(X1), torch.cov(X2)
    C12 = centred(X1) @ centred(X2).T / (n - 1)
    s1, U1 = torch.linalg.eigh(C1)
    s2, U2 = torch.linalg.eigh(C2)
    W1, W2 = (U1 / s1.sqrt()).T, (U2 / s2.sqrt()).T
    U, s, Vt = torch.linalg.svd(W1 @ C12 @ W2.T)
    F = U1[:, -k:].flip(1) * s1[-k:].flip(0).sqrt()  # C = F Fᵀ of data1:K
    return F @ (U[:, :k].T @ W1), F @ (Vt[:k] @ W2), (C1, C2), F @ F.T


def best(X1, X2, k):
    """Cholesky factors whiten, and eigenvectors of B Bᵀ give the singular vectors."""
    d, n = X1.shape
    X = torch.cat([X1, X2])
    X -= X.mean(dim=1, keepdim=True)
    C = X @ X.T / (n - 1)
    C1, C2, C12 = C[:d, :d], C[d:, d:], C[:d, d:]
    L1, L2 = torch.linalg.cholesky(C1), torch.linalg.cholesky(C2)
    half = torch.linalg.solve_triangular(L1, C12, upper=False)
    B = torch.linalg.solve_triangular(L2, half.T, upper=False).T
    values, vectors = torch.linalg.eigh(B @ B.T)
    U = vectors[:, -k:].flip(1)
    V = B.T @ U / values[-k:].flip(0).sqrt()
    A1 = torch.linalg.solve_triangular(L1.T, U, upper=True).T
    A2 = torch.linalg.solve_triangular(L2.T, V, upper=True).T
    return A1, A2, (C1, C2), torch.eye(k, device=X1.device)


def timed(work, times):
    """The median of some runs, and what the last one returned."""
    result, answer = [], None
    for _ in range(times):
        answer = None
        torch.cuda.synchronize()
        start = time.perf_counter()
        answer = work()
        torch.cuda.synchronize()
        result.append(time.perf_counter() - start)
    return statistics.median(result), answer


def rate():
    A = torch.randn(8192, 8192, device="cuda")
    seconds, _ = timed(lambda: A @ A, 6)
    print(json.dumps({"dgemm": 2 * 8192**3 / seconds / 1e12}), flush=True)


def row(d, n, spec, way):
    k = int(spec.split(":")[1])
    X1 = torch.randn(d, n, device="cuda")
    X2 = 0.8 * X1 + 0.6 * torch.randn(d, n, device="cuda")
    fit = {"obvious": obvious, "best": best}[way]
    fit(X1[:512, :4096], X2[:512, :4096], min(k, 256))  # warm
    slow = d >= 8192 and (way == "obvious" or d > 8192)
    if not slow:
        fit(X1, X2, k)
    seconds, (A1, A2, (C1, C2), C) = timed(lambda: fit(X1, X2, k), 1 if slow else 3)
    residual = max(torch.linalg.norm(A @ S @ A.T - C) / torch.linalg.norm(C) for A, S in ((A1, C1), (A2, C2)))
    print(json.dumps({"d": d, "n": n, "spec": spec, "way": way, "median": seconds, "residual": float(residual)}),
          flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "rate":
        rate()
    else:
        row(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4])
