"""What was done to a mock server, scenario by scenario, and what each instrumentation shows of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from building import rows

from analyzer import ingest
from analyzer.store import Store

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.shared

UNTOLD = "no finish reason: cut, closed or cancelled cannot be told apart"
AGAIN = "tried again; why is not recorded"
Expected = dict[str, tuple[list[str], str | None]]
NOTHING = "no span: the stream was never closed, and the span ends with it"

# The outcomes of a scenario's attempts in order, and the reason where one cannot be seen as what it was.
# retry429: 429, 429, 200; an instrumentation of the whole call shows one attempt and cannot show the tries inside it.
CALLS: Expected = {
    "nonstream": (["ok"], None),
    "stream_usage": (["ok"], None),
    "stream_nousage": (["ok"], None),
    "retry429": (["ok"], None),
    "err500": (["error"], None),
    "timeout": (["timeout"], None),
    "cut": (["truncated"], None),
    "early_close": (["unresolved"], UNTOLD),
    "abandoned": ([], NOTHING),
    "acancel": (["cancelled"], None),
}
TRIES: Expected = CALLS | {
    "stream_nousage": (["unresolved"], UNTOLD),
    "retry429": (["rejected", "rejected", "ok"], None),
    "timeout": (["timeout", "timeout"], None),
    # The call's own span is missing; the HTTP span ended with the headers of a 200.
    "abandoned": (["unresolved"], None),
    "acancel": (["unresolved"], None),
}
# Its spans end OK however the stream ended.
ENDS_OK: Expected = CALLS | {"cut": (["unresolved"], UNTOLD), "acancel": (["unresolved"], UNTOLD)}
LITELLM: Expected = {
    "cli-ok": (["ok"], None),
    "cli-stream": (["ok"], None),
    "cli-streamtp": (["ok"], None),
    "cli-retry": (["rejected", "error", "ok"], None),
    "cli-fallback": (["error", "error", "error", "ok"], None),
    "cli-hang": (["timeout", "error", "timeout"], None),
    # The client left after 450 ms: the proxy goes on and shows its own 200.
    "cli-cancel": (["ok"], None),
    "cli-badmodel": (["error"], None),
}
SGLANG: Expected = {
    "1 ok": (["ok"], None),
    "2 remote traceparent": (["ok"], None),
    "3 chunked prefill": (["ok"], None),
    "4 retract": (["ok"], None),
    "5 queue_abort": (["rejected"], "ServiceUnavailable"),
    "6 client_abort": (["cancelled"], "Client disconnected"),
}
TABLE: dict[str, Expected] = {
    "genai": CALLS,
    "openinference": CALLS,
    "traceloop": ENDS_OK,
    "openai-v2-httpx": TRIES,
    "litellm": LITELLM,
    "sglang": SGLANG,
}
# A name for each request: the span around the call, the id that was sent, the order of the script.
NAMED = """
WITH scenario AS (
  SELECT trace_id, min(substr(name, 10)) AS scenario FROM span WHERE name LIKE 'scenario:%' GROUP BY trace_id
)
SELECT
  coalesce(s.scenario, CASE WHEN r.request_id LIKE 'cli-%' THEN r.request_id ELSE rank() OVER (ORDER BY r.arrived_ns)::VARCHAR END)
    AS scenario, a.attempt, a.outcome, a.error_type, a.attempt_id
FROM attempt AS a
JOIN request AS r ON r.run = a.run AND r.request_id = a.request_id
LEFT JOIN scenario AS s ON s.trace_id = a.trace_id
ORDER BY ALL
"""


@pytest.fixture(scope="module", params=TABLE)
def driven(
    request: pytest.FixtureRequest, shared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Store]:
    """A store of everything that one instrumentation wrote."""
    name: str = request.param
    made = Store(tmp_path_factory.mktemp(name) / "s.duckdb", create=True)
    files, faults = ingest.find([str(shared_data / "made" / f"otlp-{name}" / "traces.otlp.jsonl")])
    assert faults == []
    ingest.ingest_files(made, files)
    made.derive()
    return name, made


def test_each_scenario_has_the_attempts_and_the_outcome_that_can_be_seen(driven: tuple[str, Store]) -> None:
    name, made = driven
    seen: dict[str, list[str]] = {scenario: [] for scenario in TABLE[name]}
    why: dict[str, str | None] = {}
    for scenario, _, outcome, error, _ in rows(made, NAMED):
        called = next((known for known in seen if known.split()[0] == scenario), scenario)
        seen.setdefault(called, []).append(outcome)
        why[called] = error
    assert seen == {scenario: outcomes for scenario, (outcomes, _) in TABLE[name].items()}
    for scenario, (_, reason) in TABLE[name].items():
        if reason not in (None, NOTHING):
            assert why[scenario] == reason, scenario


def test_each_request_is_one_however_many_attempts_it_took(driven: tuple[str, Store]) -> None:
    name, made = driven
    expected = sorted(len(outcomes) for outcomes, _ in TABLE[name].values() if outcomes)
    assert [n for (n,) in rows(made, "SELECT attempts FROM request ORDER BY 1")] == expected


def test_a_chunk_that_holds_only_a_role_is_never_the_first_content(driven: tuple[str, Store]) -> None:
    name, made = driven
    if name in ("litellm", "sglang"):
        assert rows(made, "SELECT * FROM boundary WHERE boundary = 'first_content' AND side = 'client'") == []
        return
    # The role comes at 210 ms and the first text at 310 ms: no instrumentation tells when content came.
    assert rows(made, "SELECT * FROM boundary WHERE boundary = 'first_content' AND time_ns IS NOT NULL") == []
    bounds = rows(
        made,
        "SELECT (b.low_ns - a.client_sent_ns) / 1e6, (b.high_ns - a.client_sent_ns) / 1e6, a.outcome FROM boundary AS b"
        " JOIN attempt AS a ON a.attempt_id = b.attempt_id WHERE b.boundary = 'first_content'",
    )
    assert all(outcome == "ok" and low < 310 < high for low, high, outcome in bounds)
    assert len(bounds) == {"openai-v2-httpx": 0}.get(name, 2)


def test_a_kv_cache_that_was_taken_back_shows_as_preempted(driven: tuple[str, Store]) -> None:
    name, made = driven
    found = rows(
        made,
        "SELECT a.outcome, a.error_type FROM boundary AS b JOIN attempt AS a USING (attempt_id) WHERE b.boundary = 'preempted'",
    )
    assert found == ([("ok", None)] if name == "sglang" else [])
