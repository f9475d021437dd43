"""Whether canonical correlations are more than chance, by theory."""

from __future__ import annotations

from typing import NamedTuple, Tuple


class FTest(NamedTuple):
    """A statistic, and the F distribution that it is compared with.

    ``p`` is NaN where the pairs are too few for the approximation.
    """

    value: float
    F: float
    df1: float
    df2: float
    p: float


class CorrelationTest(NamedTuple):
    """Whether the correlations from number ``first`` on are zero.

    ``wilks`` has Rao's F, ``hotelling_lawley`` McKeon's. The p of ``roy`` is a lower bound. ``chi_squared``, of
    ``chi_df`` degrees of freedom, is Bartlett's and Lawley's.
    """

    first: int
    correlation: float
    wilks: FTest
    pillai: FTest
    hotelling_lawley: FTest
    roy: FTest
    chi_squared: float
    chi_df: float
    chi_p: float


class CorrelationTests(Tuple[CorrelationTest, ...]):
    """The tests for ``first`` = 1, 2, …; `print` shows them as a table.

    Examples
    --------
    >>> import numpy as np, cgmca
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> tests = cgmca.MCA().fit(X, np.c_[X[:, 0] + X[:, 1] ** 2]).tests()
    >>> print(tests)
    from   correlation       Wilks           F     df1       df2           p
    1         0.764930    0.414882      40.194       2        57   1.291e-11
    >>> tests.significant()
    1
    """

    __slots__ = ()

    def significant(self, level: float = 0.05) -> int:
        """How many correlations are not zero: tested in turn by Wilks' statistic, up to the first p above ``level``."""
        count = 0
        for test in self:
            if not test.wilks.p <= level:
                break
            count += 1
        return count

    def __str__(self) -> str:
        lines = [f"{'from':<6}{'correlation':>12}{'Wilks':>12}{'F':>12}{'df1':>8}{'df2':>10}{'p':>12}"]
        for test in self:
            value, F, df1, df2, p = test.wilks
            lines.append(f"{test.first:<6}{test.correlation:>12.6f}{value:>12.6g}{F:>12.5g}{df1:>8.4g}{df2:>10.5g}"
                         f"{p:>12.4g}")
        return "\n".join(lines)
