"""The sample logs read by plain Python: their figures are checked by other code than the product's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

SAMPLES = Path(__file__).parents[2] / "sample_traces"


@pytest.fixture(scope="session")
def samples() -> Path:
    return SAMPLES


@pytest.fixture(scope="session")
def read_requests() -> Callable[[str], list[dict[str, Any]]]:
    """Give the requests of a log: `<event>_ms` after the send, and the facts, which may not disagree."""

    def read(log: str) -> list[dict[str, Any]]:
        requests: dict[tuple[str, str | None], dict[str, Any]] = {}
        for line in (SAMPLES / log).read_text(encoding="utf-8").splitlines():
            event = json.loads(line)
            seen = requests.setdefault((event["request"], event.get("trace_id")), {"sent_ns": None})
            name, time_ns = event.pop("event"), int(event.pop("ns"))
            if name == "sent":
                seen["sent_ns"] = time_ns
            assert f"{name}_ms" not in seen, f"{name} twice for {event['request']}"
            seen[f"{name}_ms"] = (time_ns - seen["sent_ns"]) / 1e6
            for fact, value in event.items():
                assert seen.setdefault(fact, value) == value, f"{fact} of {event['request']} disagrees"
        return list(requests.values())

    return read


@pytest.fixture(scope="session")
def read_spans() -> Callable[[str], list[dict[str, Any]]]:
    """Give the spans of an OTLP/JSON file as they stand, attributes as a plain dict, with their host."""

    def attributes(owner: dict[str, Any]) -> dict[str, Any]:
        return {item["key"]: next(iter(item["value"].values())) for item in owner.get("attributes", [])}

    def read(path: str) -> list[dict[str, Any]]:
        return [
            span | {"attributes": attributes(span), "host": attributes(resource["resource"])["host.name"]}
            for line in (SAMPLES / path).read_text(encoding="utf-8").splitlines()
            for resource in json.loads(line)["resourceSpans"]
            for scope in resource["scopeSpans"]
            for span in scope["spans"]
        ]

    return read
