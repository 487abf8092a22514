"""Bounds and ranks that need the binomial distribution: thin over scipy."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray


def rank_bounds(sizes: Sequence[int], q: float, confidence: float = 0.95) -> list[tuple[int | None, int | None]]:
    """Ranks (from 1) of the order statistics that bound quantile `q` two-sidedly, one pair per sample size.

    None where no order statistic of so small a sample bounds that side. The same ranks as
    `scipy.stats.quantile_test(...).confidence_interval`, which rests on independent values.
    """
    if not sizes:
        return []
    import numpy as np

    n = np.asarray(sizes, dtype=np.int64)
    tail = (1 - confidence) / 2
    # Lower: the largest rank r with P(B <= r - 1) <= tail. Upper: the smallest r with P(B >= r) <= tail.
    low = _first_reaching(tail, n, q, beyond=True)
    high = _first_reaching(1 - tail, n, q) + 1
    return [
        (int(a) if a >= 1 else None, int(b) if b <= size else None) for a, b, size in zip(low, high, sizes, strict=True)
    ]


def _first_reaching(level: float, n: NDArray[np.int64], q: float, *, beyond: bool = False) -> NDArray[np.int64]:
    """For each n the smallest count k with P(B <= k) >= level, or > level if `beyond`; B is binomial (n, q).

    `scipy.special`, not `scipy.stats`: the same numbers, and half a second less to import.
    """
    import numpy as np
    from scipy.special import bdtr, bdtrik

    def reached(k: NDArray[np.int64]) -> NDArray[np.bool_]:
        share = bdtr(k, n, q)
        return np.asarray(share > level if beyond else share >= level)

    # The continuous inverse is near; the distribution itself decides.
    k = np.clip(np.nan_to_num(np.ceil(bdtrik(level, n.astype(np.float64), q))).astype(np.int64), 0, n)
    while (lower := (k > 0) & reached(np.maximum(k - 1, 0))).any():
        k = np.where(lower, k - 1, k)
    while (higher := (k < n) & ~reached(k)).any():
        k = np.where(higher, k + 1, k)
    return np.asarray(k)


def share_bounds(cases: Iterable[tuple[int, int, float]]) -> list[tuple[float, float]]:
    """Exact (Clopper-Pearson) one-sided bounds of a share, low and high, for each (good, n, confidence).

    No trial bounds nothing: [0, 1].
    """
    from scipy.special import betaincinv

    bounds = []
    for good, n, confidence in cases:
        low = float(betaincinv(good, n - good + 1, 1 - confidence)) if good > 0 else 0.0
        high = float(betaincinv(good + 1, n - good, confidence)) if good < n else 1.0
        bounds.append((low, high))
    return bounds


def trials_to_decide(target: float, confidence: float) -> int:
    """The fewest requests, all good, that show a share of at least `target` at `confidence`."""
    import math

    return math.ceil(math.log(1 - confidence) / math.log(target))
