"""Choosing settings by cross-validation, and testing how many correlations are real."""

from .permutation import PermutationTest, permutation_test
from .tuning import Trial, TuneResult, tune, tune_parts

__all__ = ["PermutationTest", "Trial", "TuneResult", "permutation_test", "tune", "tune_parts"]
