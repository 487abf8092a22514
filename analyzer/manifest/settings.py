"""What a store needs of a manifest, as plain rows with defaults filled in."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import TYPE_CHECKING, Any, Literal

from analyzer.manifest.model import declared, is_unknown
from analyzer.manifest.times import offset_to_ns, seconds_to_ms, seconds_to_ns, to_ns
from analyzer.vocabulary import Boundary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.manifest.model import Manifest

TENANT_KEYS = (
    "tenant",
    "tenant.id",
    "user.team",
    "gen_ai.user",
    "user.id",
    "metadata.user_api_key_team_id",
    "metadata.user_api_key_end_user_id",
    "litellm.team.id",
    "litellm.end_user.id",
)
CONFIDENCE = 0.95
_EDGES = {"input_tokens": [512], "output_tokens": [128]}


@dataclass(frozen=True, slots=True)
class LengthBin:
    """Token counts in [low, high); `high` None has no end."""

    dimension: Literal["input", "output"]
    bin: str
    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class SloCondition:
    """One condition of one promise; conditions of a promise count from 1 and must all hold."""

    slo: str
    condition: int
    metric: str
    op: str
    limit_ms: float
    target: float
    confidence: float


@dataclass(frozen=True, slots=True)
class ClockRelation:
    """What clock_b reads minus what clock_a reads at the same instant, known to ± error_ns."""

    clock_a: str
    clock_b: str
    relation: str
    offset_ns: int
    error_ns: int


@dataclass(frozen=True, slots=True)
class Settings:
    """A run's declared measurement. Times are nanoseconds since 1970; None is not declared."""

    run: str
    why: str
    window_start_ns: int | None
    window_end_ns: int | None
    window_width_ns: int | None
    warmup_ns: int | None
    client_cancel: str
    max_attempts: int | None
    retry_budget_share: float | None
    retry_idempotent: bool | None
    entry: str | None
    population_unit: str
    tenant_keys: tuple[str, ...]
    length_bins: tuple[LengthBin, ...]
    slos: tuple[SloCondition, ...]
    slo_select: tuple[tuple[str, str, str], ...]
    population_select: tuple[tuple[str, str], ...]
    clock_relations: tuple[ClockRelation, ...]
    load_points: tuple[tuple[str, int, int], ...]
    boundary_policies: tuple[tuple[str, str | None, str | None, str | None], ...]


def settings(manifest: Manifest) -> Settings:
    """Return what a manifest declares; what it calls unknown or leaves out takes the default."""
    return _settings(manifest.name, manifest.document)


def default_settings(run: str) -> Settings:
    """Return the settings of a run without a manifest."""
    return _settings(run, {})


def _settings(run: str, document: dict[str, Any]) -> Settings:
    measurement = declared(document, "measurement") or {}
    slos = declared(measurement, "slo") or []
    return Settings(
        run=run,
        why=declared(document, "why") or "",
        window_start_ns=_ns(measurement, "window", "start"),
        window_end_ns=_ns(measurement, "window", "end"),
        window_width_ns=_duration_ns(measurement, "window", "width_s"),
        warmup_ns=_duration_ns(measurement, "warmup", "duration_s"),
        client_cancel=declared(measurement, "failure_rules", "client_cancel") or "interval",
        max_attempts=1
        if (retry := declared(document, "workload", "retry")) == "none"
        else declared(retry, "max_attempts"),
        retry_budget_share=declared(retry, "budget_share"),
        retry_idempotent=declared(retry, "idempotent"),
        entry=declared(measurement, "population", "entry"),
        population_unit=declared(measurement, "population", "unit") or "request",
        tenant_keys=tuple(declared(measurement, "tenant_keys") or TENANT_KEYS),
        length_bins=tuple(_bins(measurement)),
        slos=tuple(_conditions(slos)),
        slo_select=tuple((slo["name"], *pair) for slo in slos for pair in sorted(slo.get("select", {}).items())),
        population_select=tuple(sorted((declared(measurement, "population", "select") or {}).items())),
        clock_relations=tuple(_relations(declared(document, "artifact", "clocks") or [])),
        load_points=tuple(
            (point["name"], to_ns(point["start"]), to_ns(point["end"]))
            for point in declared(measurement, "load_points") or []
        ),
        boundary_policies=tuple(_policies(measurement.get("boundaries") or {})),
    )


def _ns(measurement: dict[str, Any], *keys: str) -> int | None:
    value = declared(measurement, *keys)
    return None if value is None else to_ns(value)


def _duration_ns(measurement: dict[str, Any], *keys: str) -> int | None:
    value = declared(measurement, *keys)
    return None if value is None else seconds_to_ns(value)


def _bins(measurement: dict[str, Any]) -> Iterator[LengthBin]:
    dimensions: tuple[tuple[Literal["input", "output"], str], ...] = (
        ("input", "input_tokens"),
        ("output", "output_tokens"),
    )
    for dimension, key in dimensions:
        edges = [int(edge) for edge in declared(measurement, "length_bins", key) or _EDGES[key]]
        ends = list(pairwise([0, *edges, None]))
        names = ["short", "long"] if len(edges) == 1 else [f"[{low}, {high or 'inf'})" for low, high in ends]
        for name, (low, high) in zip(names, ends, strict=True):
            yield LengthBin(dimension, name, low or 0, high)


def _conditions(slos: list[dict[str, Any]]) -> Iterator[SloCondition]:
    for slo in slos:
        confidence = float(slo.get("confidence", CONFIDENCE))
        for number, condition in enumerate(slo["good"], start=1):
            limit = float(condition["ms"]) if "ms" in condition else seconds_to_ms(condition["s"])
            yield SloCondition(
                slo["name"],
                number,
                condition["metric"],
                condition["op"],
                limit,
                float(slo["target"]),
                confidence,
            )


def _relations(relations: list[dict[str, Any]]) -> Iterator[ClockRelation]:
    seen = set()
    for relation in relations:
        offset, error = offset_to_ns(relation.get("offset_ms", 0), relation.get("error_ms", 0))
        for a, b in permutations(relation["clocks"], 2):
            if (a, b) not in seen:  # lists of one machine may share names
                seen.add((a, b))
                signed = offset if a == relation["clocks"][0] else -offset
                yield ClockRelation(a, b, relation["relation"], signed, error)


def _policies(boundaries: dict[str, Any]) -> Iterator[tuple[str, str | None, str | None, str | None]]:
    """Boundary, owner, policy, and why the policy is not known."""
    for boundary in Boundary:
        said = boundaries if is_unknown(boundaries) else boundaries.get(boundary.value)
        if said is not None:
            policy: Any = said if is_unknown(said) else said.get("policy")
            why = policy["unknown"] if is_unknown(policy) else None
            yield boundary.value, declared(said, "owner"), None if why else policy, why
