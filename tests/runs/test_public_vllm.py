"""A real vLLM run: spans and the load generator's rows of the same 200 requests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from building import TOTAL, rows

from analyzer import ingest
from analyzer.store import Store

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.shared
RUN = "vllm-otlp/jan20-codellama-prefill-1"


@pytest.fixture(scope="module")
def made(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    files, _ = ingest.find([str(shared_data / "public" / RUN)])
    store = Store(tmp_path_factory.mktemp("public") / "s.duckdb", create=True)
    ingest.ingest_files(store, files)
    ingest.apply_defaults(store)
    store.derive()
    return store


@pytest.fixture(scope="module")
def expected(shared_data: Path) -> dict[str, Any]:
    """Answers that numpy gave, seconds, by nearest rank."""
    found: dict[str, Any] = json.loads((shared_data / "expected.json").read_text())
    return found


def percentile(made: Store, metric: str) -> dict[str, Any]:
    query = f"FROM percentile WHERE metric = '{metric}' AND population = 'ok' AND {TOTAL}"
    (found,) = made.fetch(query)
    return found


def test_every_span_joins_its_client_row(made: Store) -> None:
    assert rows(
        made,
        "SELECT count(*), count(DISTINCT request_id) FROM attempt WHERE sides = 'client,engine' AND outcome = 'ok'",
    ) == [(200, 200)]
    assert rows(made, "SELECT count(*) FROM attempt") == [(200,)]


def test_five_load_points_of_forty(made: Store) -> None:
    found = rows(made, "SELECT load_point, offered, ok FROM ledger WHERE load_point <> '(all)' ORDER BY load_point")
    assert found == [
        (point, 40, 40)
        for point in ("constant 0.759/s", "constant 0.9225/s", "constant 1.086/s", "synchronous", "throughput")
    ]


@pytest.mark.parametrize(
    ("metric", "answer"),
    [("ttft_engine", "ttft_s"), ("queue", "queue_s"), ("prefill", "prefill_s"), ("decode", "decode_s"), ("e2e_engine", "span_duration_s_from_ns"),
     ("tpot_engine", "tpot_s__decode_over_(out-1)__out>1_only")],
)  # fmt: skip
def test_percentiles_are_those_that_numpy_gave(made: Store, expected: dict[str, Any], metric: str, answer: str) -> None:
    wanted = expected[RUN][answer]
    found = percentile(made, metric)
    assert found["n"] == wanted["n"]
    # The engine's float seconds become whole nanoseconds; half of one is all that may be lost.
    for level in ("p50", "p90", "p95", "p99"):
        assert found[level] / 1e3 == pytest.approx(wanted["nearest_rank"][level], abs=5.1e-10)


def test_the_figures_to_seven_places(made: Store) -> None:
    ttft, tpot = percentile(made, "ttft_engine"), percentile(made, "tpot_engine")
    assert (round(ttft["p50"] / 1e3, 7), round(ttft["p99"] / 1e3, 7)) == (1.0875461, 34.0888505)
    assert round(percentile(made, "queue")["p99"] / 1e3, 7) == 33.5829074
    assert round(percentile(made, "prefill")["p50"] / 1e3, 7) == 0.9479196
    assert (tpot["n"], tpot["not_applicable"], round(tpot["p50"] / 1e3, 7)) == (195, 5, 0.0277452)


def test_client_and_server_count_the_same_tokens(made: Store, expected: dict[str, Any]) -> None:
    assert rows(made, "SELECT count(*) FROM attempt WHERE client_output_tokens IS DISTINCT FROM output_tokens") == [
        (0,)
    ]
    sums = rows(made, "SELECT sum(input_tokens), sum(output_tokens) FROM attempt")
    assert sums == [(expected[RUN]["input_tokens_sum"], expected[RUN]["output_tokens_sum"])]


def test_nothing_is_subtracted_across_their_clocks(made: Store) -> None:
    assert rows(made, "SELECT count(*) FROM stage WHERE stage IN ('delivery', 'unattributed')") == [(0,)]
    assert rows(made, "SELECT n FROM audit WHERE audit = 'different clocks'") == [(200,)]


def test_started_and_admitted_are_bounded_by_the_slack(made: Store) -> None:
    found = rows(
        made,
        "SELECT boundary, count(*), bool_and(time_ns IS NULL AND low_ns <= high_ns) FROM boundary WHERE evidence = 'bounded' GROUP BY ALL ORDER BY 1",
    )
    assert found == [("admitted", 200, True), ("started", 200, True)]
    # ttft - queue - prefill lies between 1 and 418 ms in this run.
    slack = rows(
        made,
        "SELECT min((high_ns - low_ns) / 1e6), max((high_ns - low_ns) / 1e6) FROM boundary WHERE boundary = 'started'",
    )
    assert 1 <= slack[0][0] < slack[0][1] < 419
