"""The estimators, their settings, and what a fit says of itself."""

from .estimator import CGMCA, MCA

__all__ = ["CGMCA", "MCA"]

for _kind in (CGMCA, MCA):
    _kind.__module__ = __name__  # what pickles name, whatever the files are called
