"""Bounds and ranks that need the binomial distribution: thin over scipy."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def rank_bounds(sizes: Sequence[int], q: float, confidence: float = 0.95) -> list[tuple[int | None, int | None]]:
    """Ranks (from 1) of the order statistics that bound quantile `q` two-sidedly, one pair per sample size.

    None where no order statistic of so small a sample bounds that side. The same ranks as
    `scipy.stats.quantile_test(...).confidence_interval`, which rests on independent values.
    """
    if not sizes:
        return []
    import numpy as np
    from scipy.stats import binom

    n = np.asarray(sizes, dtype=np.int64)
    tail = (1 - confidence) / 2
    # Lower: the largest rank r with P(B <= r - 1) <= tail. Upper: the smallest r with P(B >= r) <= tail.
    low = binom.ppf(tail, n, q).astype(np.int64)
    low = np.where(binom.cdf(low, n, q) <= tail, low + 1, low)
    high = binom.isf(tail, n, q).astype(np.int64) + 1
    return [
        (int(a) if a >= 1 else None, int(b) if b <= size else None) for a, b, size in zip(low, high, sizes, strict=True)
    ]


def share_bounds(cases: Iterable[tuple[int, int, float]]) -> list[tuple[float, float]]:
    """Exact (Clopper-Pearson) one-sided bounds of a share, low and high, for each (good, n, confidence).

    No trial bounds nothing: [0, 1].
    """
    from scipy.stats import beta

    bounds = []
    for good, n, confidence in cases:
        low = float(beta.ppf(1 - confidence, good, n - good + 1)) if good > 0 else 0.0
        high = float(beta.ppf(confidence, good + 1, n - good)) if good < n else 1.0
        bounds.append((low, high))
    return bounds


def trials_to_decide(target: float, confidence: float) -> int:
    """The fewest requests, all good, that show a share of at least `target` at `confidence`."""
    import math

    return math.ceil(math.log(1 - confidence) / math.log(target))
