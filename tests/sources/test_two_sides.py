"""A load generator's files and the server's own log of the same run: joined, counted, and one answer per tool."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from building import TOTAL, declare, rows

from analyzer import ingest, manifest
from analyzer.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.shared
CLIENT = ("profile_export.jsonl", "profile_export_raw.jsonl", "profile_export_aiperf.json")
SERVER = "server_events.jsonl"
MAPPING = Path(__file__).parent / "maps" / "server_events.toml"
LIMITS = [{"metric": "ttft", "op": "<=", "ms": 400}, {"metric": "tpot", "op": "<=", "ms": 10}]


@pytest.fixture(scope="module")
def both(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("conc16")
    for name in (*CLIENT, SERVER):
        shutil.copy(shared_data / "made" / "aiperf" / "conc16" / name, folder / name)
    declared = manifest.load(
        declare(
            folder,
            [*CLIENT, SERVER],
            slo=[{"name": "p", "target": 0.5, "good": LIMITS}],
            clocks=[{"clocks": ["aiperf", "mock-server"], "relation": "same machine"}],
        )
    )
    with Store(folder / "both.duckdb", create=True) as made:
        ingest.ingest_files(made, ingest.find([str(folder / name) for name in CLIENT])[0])
        ingest.ingest_files(made, ingest.find([str(folder / SERVER)])[0], ingest.How(mapping=str(MAPPING)))
        ingest.apply_manifest(made, declared)
        made.derive()
        yield made


def test_every_attempt_is_joined_to_its_record_on_the_server(both: Store) -> None:
    found = rows(both, "SELECT client_attempts, server_attempts, joined, client_only, lost, why FROM side_ledger")
    assert found == [(245, 245, 245, 0, 0, None)]
    assert rows(both, "SELECT phase, count(*) FROM request GROUP BY phase ORDER BY phase") == [
        ("measured", 240),
        ("warmup", 5),
    ]


def test_of_240_measured_209_are_ok_17_cancelled_and_14_failed(both: Store) -> None:
    (found,) = rows(
        both,
        "SELECT offered, ok, cancelled, rejected + timeout + error + truncated, unsent + unresolved FROM ledger"
        " WHERE load_point = '(all)'",
    )
    assert found == (240, 209, 17, 14, 0)


@pytest.mark.parametrize(("metric", "p50"), [("ttft", 352.678), ("queue", 329.381), ("prefill", 17.942)])
def test_over_the_209_answers_the_wait_is_taken_apart(both: Store, metric: str, p50: float) -> None:
    (found,) = rows(both, f"SELECT n, p50 FROM percentile WHERE metric = '{metric}' AND population = 'ok' AND {TOTAL}")
    assert found == (209, pytest.approx(p50, abs=0.0005))


def test_the_promise_is_kept_by_an_interval_of_requests(both: Store) -> None:
    (found,) = rows(both, f"SELECT n, good, undetermined, share_low, share_high FROM attainment WHERE {TOTAL}")
    assert found == (240, 121, 17, pytest.approx(0.5042, abs=5e-5), pytest.approx(0.5750, abs=5e-5))


@pytest.mark.parametrize(
    ("tool", "goodput", "count", "n", "share"),
    [
        ("SGLang bench", "goodput", 121, 240, 0.504),
        ("GuideLLM", "goodput", 121, 223, 0.543),
        ("inference-perf", "goodput, server tokens", 121, 209, 0.579),
        ("AIPerf", "goodput, server tokens", 121, 240, 0.504),
        # By default the two count tokens in the text, here 1.9 times as many: decoding looks that much faster.
        ("inference-perf", "goodput", 137, 209, 0.656),
        ("AIPerf", "goodput", 137, 240, 0.571),
    ],
)
def test_each_tool_would_print_another_share_of_the_same_run(
    both: Store, tool: str, goodput: str, count: int, n: int, share: float
) -> None:
    query = (
        f"SELECT value, n FROM as_printed WHERE metric = '{goodput}' AND slo = 'p' AND tool = '{tool}'"
        " AND load_point = '(all)'"
    )
    assert rows(both, f"{query} AND statistic = 'count'") == [(count, n)]
    assert rows(both, f"{query} AND statistic = 'share'") == [(pytest.approx(share, abs=5e-4), n)]
