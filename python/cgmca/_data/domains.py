"""Samples of any number of domains: a list with one array a domain, or a dict by the domains' names."""

from __future__ import annotations

import numbers
from typing import Any, List, Mapping, Optional, Sequence, Tuple

import numpy as np

Names = Sequence[Optional[str]]


def is_dict(X: Any) -> bool:
    return isinstance(X, Mapping) and not hasattr(X, "shape")  # SciPy's dok_matrix is a dict too


def are_several(X: Any) -> bool:
    """Whether X holds samples of several domains: a dict, or a list or tuple with two-dimensional arrays in it.

    >>> are_several([np.ones((3, 2)), None]), are_several({"radar": np.ones((3, 2))}), are_several([[1, 2], [3, 4]])
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
                         ("1 (X) or 2 (Y)" if m == 2 else f"a number from 1 to {m}"))
    return number


def by_number(given: Any, names: Names) -> List[Tuple[int, Any]]:
    """(number, array) of each domain that is there, in the order given.

    >>> by_number({"radar": "R"}, ["optical", "radar"]), by_number([None, "R"], [None, None])
    ([(2, 'R')], [(2, 'R')])
    """
    if is_dict(given):
        found = [(number_of(key, names), rows) for key, rows in given.items()]
        seen = [number for number, _ in found]
        for number in seen:
            if seen.count(number) > 1:
                raise ValueError(f"domain {number} is given twice, by its number and by its name")
    elif len(given) != len(names):
        domains = "1 domain" if len(given) == 1 else f"{len(given)} domains"
        raise ValueError(f"samples of {domains}; there are {len(names)}. Give an array for each, None for a "
                         "domain that is absent")
    else:
        found = list(enumerate(given, start=1))
    return [(number, rows) for number, rows in found if rows is not None]


def in_all_domains(given: Any, names: Names, what: str) -> List[Any]:
    """One array for each domain, in their order; ValueError where one is absent."""
    found = dict(by_number(given, names))
    for number, name in enumerate(names, start=1):
        if number not in found:
            called = f" ('{name}')" if name else ""
            raise ValueError(f"domain {number}{called} is absent; {what} needs samples of all {len(names)} domains")
    return [found[number] for number in range(1, len(names) + 1)]


def as_given(given: Any, found: Any, names: Names) -> Any:
    """Results by number as `given` came: a dict with its keys, or a list, with None for what is absent."""
    if is_dict(given):
        return {key: found.get(number_of(key, names)) for key in given}
    return [found.get(number) for number in range(1, len(names) + 1)]


def names_of_new(given: Any) -> Optional[List[str]]:
    """The names that a dict gives to the domains of a fit; None of a list."""
    if not is_dict(given):
        return None
    for name in given:
        if not isinstance(name, str) or not name:
            raise TypeError(f"a dict of domains has their names as keys, and {name!r} is not a name")
    return list(given)


def label(domain: int, m: int) -> str:
    """What messages call the array of a domain.

    >>> label(2, 2), label(2, 3)
    ('Y', 'X2')
    """
    return "XY"[domain - 1] if m == 2 else f"X{domain}"
