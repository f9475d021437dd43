"""Which pairs are wrong."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, List, NamedTuple, Optional, Tuple

from .. import _core
from .._base import as_number, warn_user
from .._data import tables
from .._data.domains import labels, new_domains
from .certificate import FitWarning
from .fitting import as_columns

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class SuspectPair(NamedTuple):
    """A pair that is probably wrong: ``probability`` is that it is right.

    ``partner`` is the row of y that row ``pair`` of X belongs to with ``partner_probability``; None if none stands out.
    """

    pair: int
    probability: float
    partner: Optional[int]
    partner_probability: Optional[float]


class Displacement(NamedTuple):
    """Rows ``first`` to ``last`` of X belong to the rows of y that are ``by`` further."""

    first: int
    last: int
    by: int


@dataclasses.dataclass(frozen=True)
class PairCheck:
    """What `check_pairs` found.

    Attributes
    ----------
    probability : ndarray of shape (n,)
        That each pair is right. As ``sample_weight`` of a fit it makes wrong pairs count little.
    log_ratio : ndarray of shape (n,)
        How much likelier the two samples are together than apart, by a fit to other pairs.
    p_values : ndarray of shape (n,)
        The share of shuffled pairs that are at least as likely.
    confirmed : list of int
        Pairs that are right, at the false discovery rate.
    suspects : tuple of SuspectPair
        The pairs that are probably wrong, the most suspicious first.
    displacements : tuple of Displacement
        Runs of rows whose partners are some rows away.
    right : float
        The share of right pairs.
    ridge : float
        With which pairs were judged.
    informative : bool
        False if no pair can be judged; ``remarks`` say why.
    remarks : list of str
        Sentences on displaced rows and sorted files. They are `FitWarning` s too.
    """

    probability: Any
    log_ratio: Any
    p_values: Any
    confirmed: List[int]
    suspects: Tuple[SuspectPair, ...]
    displacements: Tuple[Displacement, ...]
    right: float
    ridge: float
    informative: bool
    remarks: List[str]


def check_pairs(X: Any, y: Optional[ArrayLike] = None, *, level: float = 0.05, seed: int = 1) -> PairCheck:
    """Which pairs are probably wrong: swapped, mismatched or displaced by some rows.

    Each pair is judged by how much likelier its samples are together than apart, given a fit to the other pairs, and
    compared with pairs that were shuffled on purpose. ``level`` is the false discovery rate of the pairs that are
    confirmed as right, ``seed`` that of the folds and shuffled pairs. It takes at least 20 pairs.

    Raises
    ------
    ValueError
        If the domains say too little of each other to tell right pairs from wrong ones.

    Examples
    --------
    >>> import numpy as np, cgmca
    >>> random = np.random.default_rng(0)
    >>> causes = random.normal(size=(200, 4))
    >>> X, Y = (causes @ random.normal(size=(4, 9)) + 0.3 * random.normal(size=(200, 9)) for _ in range(2))
    >>> Y[[3, 60]] = Y[[60, 3]]                            # a swap
    >>> sorted((suspect.pair, suspect.partner) for suspect in cgmca.check_pairs(X, Y).suspects)
    [(3, 60), (60, 3)]
    """
    samples = new_domains(X, y, "check_pairs")[1]
    if len(samples) != 2:
        raise ValueError(f"check_pairs takes the pairs of two domains, not of {len(samples)}")
    names = labels(2)
    tables.check_rows(samples, names)
    samples = [as_columns(rows, name, flat=name == "y", finite=False) for rows, name in zip(samples, names)]
    check = checked(*samples, level, seed)
    for remark in check.remarks:
        warn_user(remark, FitWarning)
    return check


def checked(X: Any, y: Any, level: float = 0.05, seed: int = 1) -> PairCheck:
    """The same of arrays that have been checked, without warnings."""
    found = _core.check_pairs(X, y, as_number("level", level), seed)
    suspects = tuple(SuspectPair(*one) for one in found.pop("suspects"))
    displacements = tuple(Displacement(*one) for one in found.pop("displacements"))
    return PairCheck(suspects=suspects, displacements=displacements, **found)
