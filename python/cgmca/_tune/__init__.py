"""Choosing settings by cross-validation, and testing how many correlations are real."""

from .bootstrap import Bootstrap, Bootstrapped, DomainBootstrap, bootstrap
from .permutation import PermutationTest, permutation_test
from .tuning import Trial, TuneResult, tune, tune_parts

__all__ = ["Bootstrap", "Bootstrapped", "DomainBootstrap", "PermutationTest", "Trial", "TuneResult", "bootstrap",
           "permutation_test", "tune", "tune_parts"]
