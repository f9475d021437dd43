"""Choosing settings by cross-validation, and testing how many correlations are real."""

from .tuning import PermutationTest, TuneResult, permutation_test, tune, tune_folds

__all__ = ["PermutationTest", "TuneResult", "permutation_test", "tune", "tune_folds"]
