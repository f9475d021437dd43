#!/usr/bin/env python3
"""Prints what scikit-learn's OAS makes of the data of tests/core/fit/test_few_pairs.cpp, which holds these figures.

    tests/python/make_oas_fixture.py
"""
import numpy as np
from sklearn.covariance import OAS


def data(n, d):
    """x_ij = (1 + j mod 3) sin(1 + 0.37 i j + 0.11 i²), sample i, feature j."""
    i, j = np.mgrid[0:n, 0:d]
    return (1 + j % 3) * np.sin(1 + 0.37 * i * j + 0.11 * i**2)


for n, d in [(10, 30), (40, 12), (200, 8), (5, 3)]:
    oas = OAS().fit(data(n, d))
    print(f"{{{n}, {d}, {oas.shrinkage_:.17g}, {oas.covariance_[0, 0]:.17g}, {oas.covariance_[1, 0]:.17g}}},")
