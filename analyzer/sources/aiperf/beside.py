"""What AIPerf's summary says of a run's settings: the files of requests that lie beside it do not."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from analyzer.errors import SourceError
from analyzer.sources.opening import open_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_LIMIT = 64 * 1024 * 1024
_PACKED = (".gz", ".zst")
_RATES = ("poisson", "gamma", "constant")
# Phases whose sends wait for no answer, as long as nothing caps them.
_OPEN_LOOP = (*_RATES, "fixed_schedule")


@dataclass(frozen=True, slots=True)
class Beside:
    """Settings of a run; everything is unknown without a summary.

    `points` are the load points in words by the name of the phase, `scheduled` the phases with an open-loop schedule.
    """

    version: str | None = None
    model: str | None = None
    points: Mapping[str, str] = field(default_factory=dict)
    scheduled: frozenset[str] = frozenset()
    server_counts: bool = False
    """Whether what AIPerf calls sequence lengths are the server's counts and not its own of the text."""
    measured_point: str | None = None
    """The load point that the summary's figures are of; None where it has several."""


def stem(path: Path) -> str:
    """A file's name without what tells its kind: the same for all exports of one run."""
    name = path.name
    for packed in _PACKED:
        name = name.removesuffix(packed)
    for kind in ("_raw.jsonl", ".jsonl", "_aiperf.json", ".json"):
        if name.endswith(kind):
            return name.removesuffix(kind)
    return name


def companion(path: Path, *kinds: str) -> Path | None:
    """The first file of the same run beside a file: `kinds` are what its name goes on with. None without one."""
    for kind in kinds:
        for packed in ("", *_PACKED):
            found = path.with_name(f"{stem(path)}{kind}{packed}")
            if found.is_file() and found != path:
                return found
    return None


def requests_beside(path: Path) -> Path | None:
    """The export of requests beside a file."""
    return companion(path, ".jsonl")


def settings_beside(path: Path) -> Beside:
    """What the summary beside a file of requests says. A summary that cannot be read says nothing."""
    found = companion(path, "_aiperf.json", ".json")
    if found is None:
        return Beside()
    try:
        return settings(load(found))
    except SourceError:
        return Beside()


def load(path: Path) -> dict[str, Any]:
    """A summary as it stands in its file. SourceError when it is no whole JSON object."""
    with open_bytes(path) as stream:
        text = stream.read(_LIMIT + 1)
    if len(text) > _LIMIT:
        raise SourceError(f"{path} is larger than {_LIMIT} bytes, too large for a summary", "check what wrote it")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise SourceError(
            f"{path} is not whole JSON: {fault}", "copy the file again, or let the tool finish"
        ) from fault
    if not isinstance(document, dict):
        raise SourceError(f"{path} is no JSON object", "name AIPerf's profile_export_aiperf.json")
    return document


def settings(document: dict[str, Any]) -> Beside:
    """The settings that a summary states."""
    config = _part(document, "input_config")
    phases = list(_phases(config))
    points = _points(phases)
    measured = [points[name] for name, phase in phases if not _is_warmup(name, phase)]
    version = document.get("aiperf_version")
    return Beside(
        version=version if isinstance(version, str) and version else None,
        model=_model(config),
        points=points,
        scheduled=frozenset(name for name, phase in phases if _is_scheduled(phase)),
        server_counts=_part(config, "endpoint").get("use_server_token_count") is True,
        measured_point=measured[0] if len(measured) == 1 else None,
    )


def _part(document: dict[str, Any], key: str) -> dict[str, Any]:
    found = document.get(key)
    return found if isinstance(found, dict) else {}


def _model(config: dict[str, Any]) -> str | None:
    """The model, where the run asked for one only."""
    listed = _part(config, "models").get("items") or _part(config, "endpoint").get("model_names")
    if not isinstance(listed, list) or len(listed) != 1:
        return None
    only = listed[0].get("name") if isinstance(listed[0], dict) else listed[0]
    return only if isinstance(only, str) and only else None


def _phases(config: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The phases by name; versions that knew one load only are put in the same words."""
    listed = config.get("phases")
    if isinstance(listed, list):
        for phase in listed:
            if isinstance(phase, dict) and isinstance(phase.get("name"), str):
                yield phase["name"], phase
        return
    load = _part(config, "loadgen")
    if load:
        pattern = load.get("arrival_pattern") or load.get("request_rate_mode") or "poisson"
        kind = pattern if load.get("request_rate") is not None else "concurrency"
        if _part(config, "input").get("fixed_schedule") is True:
            kind = "fixed_schedule"
        yield "profiling", {**load, "type": kind, "rate": load.get("request_rate")}


def _number(value: Any) -> float | None:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def words(phase: dict[str, Any]) -> str:
    """A phase's load in words: what drives it, and what caps it."""
    kind = str(phase.get("type") or "unknown")
    rate, users, streams = (_number(phase.get(key)) for key in ("rate", "users", "concurrency"))
    if kind == "concurrency":
        return "concurrency" if streams is None else f"concurrency {streams}"
    said = kind.replace("_", " ")
    if rate is not None:
        said += f" {rate:.4g}/s"
    if users is not None:
        said += f", {users} users"
    return said if streams is None else f"{said}, concurrency {streams} at most"


def _points(phases: list[tuple[str, dict[str, Any]]]) -> dict[str, str]:
    """Load points by phase; measured phases of the same load are told apart by their names."""
    said = {name: words(phase) for name, phase in phases}
    measured = [said[name] for name, phase in phases if not _is_warmup(name, phase)]
    return {
        name: f"{name}: {said[name]}" if measured.count(said[name]) > 1 and not _is_warmup(name, phase) else said[name]
        for name, phase in phases
    }


def _is_warmup(name: str, phase: dict[str, Any]) -> bool:
    return "warmup" in (name, phase.get("kind"))


def _is_scheduled(phase: dict[str, Any]) -> bool:
    """Whether a request's credit is issued by the schedule alone: a cap makes it wait for answers."""
    capped = any(phase.get(cap) is not None for cap in ("concurrency", "prefill_concurrency", "timing_mode"))
    return phase.get("type") in _OPEN_LOOP and not capped
