"""GuideLLM's results: outcomes from its three lists, schedules only where there is one, and what the file lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from building import rows

from analyzer import ingest
from analyzer.errors import SourceError
from analyzer.store import Store

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.shared


@pytest.fixture
def made(shared_data: Path, tmp_path: Path) -> Store:
    return read(shared_data / "made" / "guidellm" / "benchmarks.json", tmp_path)


def read(path: Path, folder: Path) -> Store:
    files, _ = ingest.find([str(path)])
    store = Store(folder / "s.duckdb", create=True)
    ingest.ingest_files(store, files)
    ingest.apply_defaults(store)
    store.derive()
    return store


def test_every_row_has_one_outcome(made: Store) -> None:
    found = rows(
        made,
        "SELECT load_point, offered, ok, rejected, timeout, cancelled, error, truncated FROM ledger WHERE load_point <> '(all)' ORDER BY 1",
    )
    assert found == [("concurrent 16", 120, 110, 2, 2, 0, 1, 5), ("concurrent 4", 92, 81, 0, 2, 4, 3, 2)]


def test_rows_that_the_tool_counts_and_its_file_lacks_are_named(made: Store) -> None:
    (note,) = rows(made, "SELECT detail FROM audit WHERE audit = 'source note'")
    assert note == ("concurrent 4: the tool counts 96 requests and its file holds 92",)
    assert rows(made, "SELECT tool, records FROM source_file") == [("guidellm 0.8.1", 212)]


def test_a_closed_loop_has_no_schedule(made: Store) -> None:
    assert rows(made, "SELECT count(*) FROM attempt WHERE client_scheduled_ns IS NOT NULL") == [(0,)]
    assert rows(made, "SELECT DISTINCT ttft_scheduled_why FROM request_metric") == [("no open-loop schedule",)]


def test_its_own_first_token_times_are_reproduced(made: Store) -> None:
    # time_to_first_token_ms of its first row, from the same two stamps.
    found = rows(made, "SELECT ttft_ms FROM request_metric WHERE request_id = 'e4dca772-ea15-4e7e-b825-0add732ecacc'")
    assert found[0][0] == pytest.approx(25.084733963012695, abs=1e-3)


def test_an_open_loop_has_its_schedule(shared_data: Path, tmp_path: Path) -> None:
    made = read(
        shared_data / "public" / "vllm-otlp" / "jan20-codellama-prefill-1" / "guidellm-results.stripped.json", tmp_path
    )
    found = rows(
        made, "SELECT load_point LIKE 'constant%', count(client_scheduled_ns) FROM attempt GROUP BY 1 ORDER BY 1"
    )
    assert found == [(False, 0), (True, 120)]
    assert rows(made, "SELECT tool FROM source_file") == [("guidellm 0.6.0.dev5",)]


def test_a_torn_file_leaves_nothing_behind(shared_data: Path, tmp_path: Path) -> None:
    whole = (shared_data / "made" / "guidellm" / "benchmarks.json").read_bytes()
    torn = tmp_path / "torn.json"
    torn.write_bytes(whole[: len(whole) // 2])
    files, _ = ingest.find([str(torn)])
    store = Store(tmp_path / "s.duckdb", create=True)
    with pytest.raises(SourceError, match="is not whole JSON"):
        ingest.ingest_files(store, files)
    assert rows(store, "SELECT count(*) FROM event") == [(0,)]
