"""Whatever comes in: nothing is lost, order does not matter, and the SQL agrees with plain Python."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Any

from building import TOTAL, lines, rows, slo, store
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analyzer import stats

INF = float("inf")
FEW = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))

ended = st.tuples(
    st.sampled_from(["ok", "ok", "ok", "timeout", "rejected", "error", "truncated", "cancelled"]),
    st.integers(1, 400), st.integers(0, 400), st.sampled_from(["a", "b", None]), st.sampled_from([None, 1, 5, 300]), st.booleans(),
)  # fmt: skip
runs = st.lists(ended, min_size=1, max_size=25)


def log(told: list[Any]) -> str:
    text = []
    for i, (outcome, first, more, tenant, tokens, shown) in enumerate(told):
        facts = f" tenant={tenant}" if tenant else ""
        text.append(f"r{i} sent {i}{facts}")
        if outcome == "ok" or shown:
            text.append(f"r{i} first_content {i + first}")
        text.append(f"r{i} done {i + first + more} outcome={outcome}" + (f" output_tokens={tokens}" if tokens else ""))
    return "\n".join(text)


def made(told: list[Any], **more: Any) -> Any:
    return store(Path(tempfile.mkdtemp()), lines(log(told)), **more)


@FEW
@given(runs)
def test_every_request_is_in_one_outcome_and_one_state(told: list[Any]) -> None:
    kept = made(told, slo=[slo("ttft", 200)])
    assert rows(
        kept,
        "SELECT DISTINCT offered - ok - rejected - timeout - cancelled - error - truncated - unsent - unresolved FROM ledger",
    ) == [(0,)]
    assert rows(kept, "SELECT offered FROM ledger WHERE load_point = '(all)'") == [(len(told),)]
    assert rows(kept, "SELECT DISTINCT n - good - bad - undetermined - unknown FROM attainment") == [(0,)]
    whole = rows(
        kept,
        f"SELECT metric, n + not_applicable FROM percentile WHERE population = 'all' AND metric IN ('ttft', 'e2e') AND {TOTAL}",
    )
    assert {size for _, size in whole} == {len(told)}


@FEW
@given(runs)
def test_parts_sum_to_the_whole(told: list[Any]) -> None:
    kept = made(told)
    total = rows(kept, "SELECT sum(requests), sum(attempts) FROM outcome_count WHERE load_point = '(all)'")
    parts = rows(
        kept,
        "SELECT sum(requests), sum(attempts) FROM outcome_count WHERE tenant <> '(all)' AND load_point <> '(all)' AND input_bin = '(all)' AND output_bin = '(all)' AND window_start = '(all)'",
    )
    assert total == parts == [(len(told), len(told))]


@FEW
@given(runs)
def test_percentiles_rise_with_their_level_and_an_interval_is_one(told: list[Any]) -> None:
    for row in rows(
        made(told), "SELECT p50, p90, p95, p99, p999, p50_high, p90_high, p95_high, p99_high, p999_high FROM percentile"
    ):
        low, high = row[:5], row[5:]
        known = [value for value in low if value is not None]
        assert known == sorted(known)
        assert list(high) == sorted(high, key=lambda value: -1 if value is None else value)
        assert all(a <= b for a, b in zip(low, high, strict=True) if a is not None)


@FEW
@given(st.lists(st.integers(1, 5000), min_size=1, max_size=60))
def test_the_sql_takes_the_nearest_rank_that_python_takes(values: list[int]) -> None:
    kept = made([("ok", value, 1, None, None, True) for value in values])
    for q in (0.01, 0.29, 0.5, 0.9, 0.95, 0.99, 1.0):
        wanted = sorted(values)[math.ceil(round(q * 100) * len(values) / 100) - 1]
        assert rows(kept, f"SELECT low, high FROM percentile_at('ttft', {q}) WHERE population = 'ok' AND {TOTAL}") == [
            (wanted, wanted)
        ]


@FEW
@given(runs, st.integers(1, 6))
def test_more_timeouts_change_no_percentile_of_answers(told: list[Any], more: int) -> None:
    query = f"SELECT n, p50, p95, p99 FROM percentile WHERE metric = 'ttft' AND population = 'ok' AND {TOTAL}"
    failed = f"SELECT failed FROM percentile WHERE metric = 'ttft' AND population = 'all' AND {TOTAL}"
    alone, beside = made(told), made([*told, *[("timeout", 9000, 0, None, None, False)] * more])
    assert rows(alone, query) == rows(beside, query)
    assert rows(beside, failed)[0][0] - rows(alone, failed)[0][0] == more


@FEW
@given(runs, st.randoms(use_true_random=False))
def test_the_order_of_lines_does_not_matter(told: list[Any], random: Any) -> None:
    first = lines(log(told))
    shuffled = random.sample(first, len(first))
    content = "SELECT attempt_id, outcome, tenant, client_sent_ns, client_first_content_ns, client_done_ns FROM attempt ORDER BY ALL"
    found = [store(Path(tempfile.mkdtemp()), order) for order in (first, shuffled)]
    assert rows(found[0], content) == rows(found[1], content)
    assert rows(found[0], "FROM percentile ORDER BY ALL") == rows(found[1], "FROM percentile ORDER BY ALL")


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 3000), st.sampled_from([0.5, 0.9, 0.95, 0.99, 0.999]))
def test_ranks_are_those_that_scipy_gives(n: int, q: float) -> None:
    import numpy as np
    from scipy.stats import quantile_test

    bounds = quantile_test(np.arange(1, n + 1), q=1, p=q).confidence_interval(0.95)
    wanted = tuple(None if math.isnan(value) else int(value) for value in (bounds.low, bounds.high))
    assert stats.rank_bounds([n], q) == [wanted]
