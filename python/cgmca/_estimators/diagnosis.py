"""Diagnostics of samples: which look mispaired, swapped or unlike the others."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, List, NamedTuple, Optional, Tuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


class DomainDiagnosis(NamedTuple):
    """One domain of a `Diagnosis`, with an entry for each sample.

    ``T2`` is Hotelling's within the common space, ``Q`` the squared rest outside of it (features at unit size),
    ``distance`` -2 log p(x | partners) but for a constant, ``evidence`` -2 log p(x | partners) / p(x), which is above 0
    where a stranger would be the likelier partner. ``rank`` is the place of the own sample among all as a partner, from
    1, and ``likeliest`` the row of the likeliest one.
    """

    T2: Array
    T2_p: Array
    Q: Array
    Q_p: Array
    distance: Array
    distance_p: Array
    evidence: Array
    evidence_p: Array
    rank: Any
    likeliest: Any


class Suspect(NamedTuple):
    """A sample on the list.

    Its row, why (``"mispaired"``, ``"swapped"``, ``"far out"`` or ``"unlike the fit"``), the domain in which it shows
    most, p and q value, and the row of the likeliest partner if pairs are the matter.
    """

    sample: int
    suspicion: str
    domain: int
    p: float
    q: float
    partner: Optional[int]


@dataclasses.dataclass(frozen=True)
class Diagnosis:
    """What `CGMCA.diagnose` finds.

    Attributes
    ----------
    domains : tuple of `DomainDiagnosis`
    pair_p : array
        p value of each sample that its domains belong together.
    suspects : tuple of `Suspect`, the surest first
    remarks : list of str

    Examples
    --------
    >>> import cgmca
    >>> suspect = cgmca.Suspect(4, "swapped", 1, 1e-9, 1e-7, 9)
    >>> cgmca.Diagnosis((), [], (suspect,), []).rows("swapped")
    [4]
    """

    domains: Tuple[DomainDiagnosis, ...]
    pair_p: Any
    suspects: Tuple[Suspect, ...]
    remarks: List[str]

    def rows(self, *suspicions: str) -> List[int]:
        """Rows of the suspects of these kinds, or of all."""
        return sorted({one.sample for one in self.suspects if not suspicions or one.suspicion in suspicions})
