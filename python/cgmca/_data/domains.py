"""Samples of any number of domains: X and y, a list with one array for each domain, or a dict by the domains' names."""

from __future__ import annotations

import numbers
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

Names = Sequence[Optional[str]]


def is_dict(X: Any) -> bool:
    return isinstance(X, Mapping) and not hasattr(X, "shape")  # SciPy's dok_matrix is a dict too


def holds_domains(X: Any) -> bool:
    """Whether X is a collection of domains: a dict, or a list or tuple with two-dimensional arrays in it.

    >>> holds_domains([np.ones((3, 2)), None]), holds_domains({"radar": np.ones((3, 2))}), holds_domains([[1, 2], [3, 4]])
    (True, True, False)
    """
    if is_dict(X):
        return True
    if not isinstance(X, (list, tuple)) or len(X) == 0:
        return False
    return any(map(_is_table, X)) or all(one is None for one in X)


def _is_table(one: Any) -> bool:
    if hasattr(one, "shape"):
        return len(one.shape) == 2
    return isinstance(one, (list, tuple)) and len(one) > 0 and (
        isinstance(one[0], (list, tuple)) or getattr(one[0], "ndim", 0) == 1)


def number_of(domain: Any, names: Names) -> int:
    """The number, from 1 on, of a domain given by number or name.

    >>> number_of("radar", ["optical", "radar"]), number_of(1, [None, None])
    (2, 1)
    """
    m = len(names)
    if isinstance(domain, str):
        if domain in names:
            return list(names).index(domain) + 1
        known = ", ".join(repr(name) for name in names if name)
        raise ValueError(f"there is no domain '{domain}': " + (
            f"they are called {known}" if known else f"the domains have no names; give a number from 1 to {m}"))
    if not isinstance(domain, numbers.Integral) or isinstance(domain, bool):
        raise TypeError(f"a domain is given by its number or its name, not by {domain!r}")
    number = int(domain)
    if not 1 <= number <= m:
        raise ValueError(f"there is no domain {number}: give " +
                         ("1 (X) or 2 (y)" if m == 2 else f"a number from 1 to {m}"))
    return number


def by_number(collection: Any, names: Names) -> List[Tuple[int, Any]]:
    """(number, array) of each domain in a list or dict that is there, in the order given.

    >>> by_number({"radar": "R"}, ["optical", "radar"]), by_number([None, "R"], [None, None])
    ([(2, 'R')], [(2, 'R')])
    """
    if is_dict(collection):
        found = [(number_of(key, names), rows) for key, rows in collection.items()]
        seen = [number for number, _ in found]
        for number in seen:
            if seen.count(number) > 1:
                raise ValueError(f"domain {number} is given twice, by its number and by its name")
    elif len(collection) != len(names):
        domains = "1 domain" if len(collection) == 1 else f"{len(collection)} domains"
        raise ValueError(f"samples of {domains}; there are {len(names)}. Give an array for each, None for a "
                         "domain that is absent")
    else:
        found = list(enumerate(collection, start=1))
    return [(number, rows) for number, rows in found if rows is not None]


def given(X: Any, y: Any, names: Names, method: str = "") -> List[Tuple[int, Any]]:
    """(number, array) of X and, unless it is None, y; or of each domain that X, a list or dict, holds.

    With the name of a method, X and y are refused if there are not two domains.
    """
    if holds_domains(X):
        if y is not None:
            raise ValueError("X holds samples of several domains, and y is given too; put them all into X")
        return by_number(X, names)
    if method and len(names) != 2:
        raise ValueError(f"{method}(X, y) is for two domains, and this fit has {len(names)}: give a list with an array "
                         "for each, None for a domain that is absent, or a dict")
    return [(1, X)] if y is None else [(1, X), (2, y)]


def all_given(X: Any, y: Any, names: Names, what: str) -> List[Tuple[int, Any]]:
    """The same for all domains, in their order; ValueError if one is absent."""
    found = dict(given(X, y, names, what))
    for number, name in enumerate(names, start=1):
        if number not in found:
            called = f" ('{name}')" if name else ""
            raise ValueError(f"domain {number}{called} is absent; {what} needs samples of all {len(names)} domains")
    return sorted(found.items())


def new_domains(X: Any, y: Any, what: str) -> Tuple[Optional[List[str]], List[Any]]:
    """The names, if a dict gives them, and the samples of all domains, where no fit has told how many there are."""
    if y is None and (not holds_domains(X) or len(X) < 2):
        raise ValueError(f"{what} needs matched samples of two domains or more: give X and y, or as X a list or dict "
                         "with samples of at least two domains")
    names = names_of_new(X)
    present = all_given(X, y, names or [None] * (len(X) if holds_domains(X) else 2), what)
    return names, [rows for _, rows in present]


def as_given(X: Any, y: Any, found: Dict[int, Any], names: Names) -> Any:
    """Results by number as X and y came: one or a pair, a dict with its keys, or a list with None for what is absent."""
    if is_dict(X):
        return {key: found.get(number_of(key, names)) for key in X}
    if holds_domains(X):
        return [found.get(number) for number in range(1, len(names) + 1)]
    return found[1] if y is None else (found[1], found[2])


def names_of_new(X: Any) -> Optional[List[str]]:
    """The names that a dict gives to the domains of a fit; None if X is none."""
    if not is_dict(X):
        return None
    for name in X:
        if not isinstance(name, str) or not name:
            raise TypeError(f"a dict of domains has their names as keys, and {name!r} is not a name")
    return list(X)


def labels(m: int) -> List[str]:
    """What messages call the arrays of m domains.

    >>> labels(2), labels(3)
    (['X', 'y'], ['X1', 'X2', 'X3'])
    """
    return ["X", "y"] if m == 2 else [f"X{domain}" for domain in range(1, m + 1)]


def label(domain: int, m: int) -> str:
    return labels(m)[domain - 1]
