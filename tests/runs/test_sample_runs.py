"""The sample runs, read as a user would: what they hold, and what must never be lost in them."""

from __future__ import annotations

from pathlib import Path

import pytest
from building import TOTAL, rows

from analyzer import ingest
from analyzer.store import Store

SAMPLES = Path(__file__).parents[2] / "sample_traces"
SERIALIZED, VLLM = "burst-64-serialized-constructed", "burst-64-vllm-constructed"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Store:
    files, faults = ingest.find([str(SAMPLES)])
    assert faults == []
    store = Store(tmp_path_factory.mktemp("samples") / "s.duckdb", create=True)
    ingest.ingest_files(store, files)
    for file in files:
        if file.manifest:
            ingest.apply_manifest(store, file.manifest)
    ingest.apply_defaults(store)
    store.derive()
    return store


def test_38_answers_and_154_timeouts_are_192_attempts(made: Store) -> None:
    found = rows(
        made,
        f"SELECT offered, attempts, ok, timeout, ok_share, ok_ci_low, ok_ci_high FROM ledger WHERE run = '{SERIALIZED}' AND load_point = '(all)'",
    )
    assert found == [
        (
            192,
            192,
            38,
            154,
            0.19791666666666666,
            pytest.approx(0.147726749738036, rel=1e-12),
            pytest.approx(0.259957401010628, rel=1e-12),
        )
    ]


def test_192_answers_are_not_a_hundred_percent_plus_minus_nothing(made: Store) -> None:
    found = rows(
        made,
        f"SELECT offered, ok, timeout, ok_share, ok_ci_low, ok_ci_high FROM ledger WHERE run = '{VLLM}' AND load_point = '(all)'",
    )
    assert found == [(192, 192, 0, 1.0, pytest.approx(0.980384853933246, rel=1e-12), 1.0)]


@pytest.mark.parametrize(("run", "n", "failed", "p95"), [(SERIALIZED, 38, 154, 53251.0), (VLLM, 192, 0, 523.0)])
def test_p95_over_answers_has_its_failures_beside_it(made: Store, run: str, n: int, failed: int, p95: float) -> None:
    found = rows(
        made,
        f"SELECT n, failed, p95 FROM percentile WHERE run = '{run}' AND metric = 'ttft' AND population = 'ok' AND {TOTAL}",
    )
    assert found == [(n, failed, p95)]


def test_38_answers_bound_no_upper_end_of_their_p95(made: Store) -> None:
    query = f"SELECT ci_high FROM quantile WHERE run = '{SERIALIZED}' AND metric = 'ttft' AND population = 'ok' AND q = 0.95 AND {TOTAL}"
    assert rows(made, query) == [(None,)]


@pytest.mark.parametrize(
    ("request_id", "ttft", "e2e", "outcome"),
    [
        ("w0-r00", 225.0, 4242.0, "ok"),
        ("w0-r01", 4406.0, 13140.0, "ok"),
        ("w0-r05", 13394.0, 24662.0, "ok"),
        ("w0-r02", None, 60002.0, "timeout"),
    ],
)
def test_four_requests_of_the_first_wave(
    made: Store, request_id: str, ttft: float | None, e2e: float, outcome: str
) -> None:
    query = f"SELECT m.ttft_ms, m.e2e_ms, a.outcome FROM attempt_metric AS m JOIN attempt AS a USING (attempt_id) WHERE m.request_id = 'serialized-{request_id}'"
    assert rows(made, query) == [(ttft, e2e, outcome)]


def test_the_first_wave_streams_for_as_long_as_it_was_told(made: Store) -> None:
    query = "SELECT round(e2e_ms - ttft_ms, 6) FROM attempt_metric WHERE request_id IN ('serialized-w0-r00', 'serialized-w0-r01', 'serialized-w0-r05') ORDER BY request_id"
    assert rows(made, query) == [(4017.0,), (8734.0,), (11268.0,)]


def test_a_timeout_is_no_time_to_first_content(made: Store) -> None:
    assert rows(
        made,
        f"SELECT count(*) FROM attempt_metric AS m JOIN attempt AS a USING (attempt_id) WHERE a.run = '{SERIALIZED}' AND a.outcome = 'timeout' AND m.ttft_ms IS NOT NULL",
    ) == [(0,)]


def test_promises_of_the_two_servers(made: Store) -> None:
    found = dict(rows(made, "SELECT run, verdict FROM verdict"))
    assert found == {SERIALIZED: "broken", VLLM: "kept", "three-services": "cannot tell", "vllm-direct": "broken"}


def test_three_services_hold_36_requests_of_three_tenants(made: Store) -> None:
    assert rows(
        made, "SELECT offered, ok, cancelled FROM ledger WHERE run = 'three-services' AND load_point = '(all)'"
    ) == [(36, 31, 5)]
    tenants = rows(
        made,
        "SELECT tenant, sum(requests) FROM outcome_count WHERE run = 'three-services' AND load_point = '(none)' AND tenant <> '(all)' AND input_bin = '(all)' AND output_bin = '(all)' AND window_start = '(all)' GROUP BY tenant ORDER BY tenant",
    )
    assert tenants == [("acme", 10), ("globex", 10), ("initech", 16)]
    assert rows(made, "SELECT sides, count(*) FROM attempt WHERE run = 'three-services' GROUP BY sides") == [
        ("client,gateway,engine", 36)
    ]


def test_a_gateways_200_does_not_make_a_cancel_ok(made: Store) -> None:
    found = rows(
        made,
        "SELECT outcome, decided_by, count(*) FROM attempt WHERE run = 'three-services' AND outcome <> 'ok' GROUP BY ALL",
    )
    assert found == [("cancelled", "client", 5)]
    assert rows(made, "SELECT count(*) FROM audit WHERE audit = 'ran on after cancel' AND run = 'three-services'") == [
        (5,)
    ]


def test_start_up_spans_are_set_aside_and_not_counted_as_requests(made: Store) -> None:
    found = rows(
        made, "SELECT records, kept, set_aside FROM source_file WHERE path LIKE '%otlp.jsonl' ORDER BY records"
    )
    assert found == [(38, 26, 12), (520, 504, 16)]


def test_five_requests_without_a_server_span_are_found_by_name(made: Store) -> None:
    found = [
        subject.rsplit("-", 1)[0]
        for (subject,) in rows(
            made, "SELECT subject FROM audit WHERE run = 'vllm-direct' AND audit = 'client only' ORDER BY subject"
        )
    ]
    assert found == ["cli-abort_midstream", "cli-abort_nonstream", "cli-abort_queued", "cli-badparam", "cli-toolong"]
    assert rows(
        made, "SELECT offered, ok, cancelled, error FROM ledger WHERE run = 'vllm-direct' AND load_point = '(all)'"
    ) == [(30, 25, 3, 2)]


def test_two_outputs_are_one_attempt_and_a_reused_id_is_two(made: Store) -> None:
    assert rows(made, "SELECT outputs, output_tokens, sides FROM attempt WHERE request_id LIKE 'cli-n2%'") == [
        (2, 32, "client,engine")
    ]
    assert rows(
        made, "SELECT count(*), count(DISTINCT trace_id) FROM attempt WHERE request_id LIKE 'dup-fixed-id@%'"
    ) == [(2, 2)]
    assert rows(made, "SELECT count(*) FROM observation WHERE run = 'vllm-direct' AND side = 'engine'") == [(26,)]


def test_a_request_without_trace_id_joins_by_its_own_id(made: Store) -> None:
    assert rows(made, "SELECT sides FROM attempt WHERE request_id LIKE 'cli-notp%'") == [("client,engine",)]


def test_stages_across_clocks_need_the_declared_relation(made: Store) -> None:
    found = rows(made, "SELECT run, count(*) FROM stage WHERE stage = 'delivery' GROUP BY run ORDER BY run")
    assert found == [("three-services", 31), ("vllm-direct", 22)]


def test_a_first_token_is_never_later_than_its_stages_allow(made: Store) -> None:
    query = "SELECT count(*) FROM attempt_metric WHERE run = 'three-services' AND ttft_ms IS NOT NULL AND abs(ttft_ms - (edge_high_ms + queue_high_ms + prefill_high_ms + delivery_high_ms + unattributed_low_ms)) > 1e-6"
    assert rows(made, query) == [(0,)]
