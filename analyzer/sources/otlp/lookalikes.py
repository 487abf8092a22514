"""Files that speak of spans and are not OTLP."""

from __future__ import annotations

import re

_ARROW = b"\xff\xff\xff\xff"
_SPAN_LIST = re.compile(rb'"(spans|traces)"\s*:\s*\[')
_FIRST_ID = re.compile(rb'"(?:span_id|spanId)"\s*:\s*"([^"]{1,40})"')
_HEX_ID = re.compile(rb"(0x)?[0-9a-fA-F]{16}")
_ISO_TIME = re.compile(rb'"(start_time|startTime|start)"\s*:\s*"\d{4}-\d\d-\d\d')
_PLAIN_MAP = re.compile(rb'"attributes"\s*:\s*\{')


def explain(head: bytes) -> str | None:
    """What keeps a file from being OTLP, as the rest of a sentence about it; None when nothing suggests that it is."""
    if head[:1] == b"\x12" and _ARROW in head[:64]:
        return "it holds OpenTelemetry's Arrow records (OTAP), which are not OTLP"
    if not _SPAN_LIST.search(head):
        return None
    why = []
    if (found := _FIRST_ID.search(head)) and not _HEX_ID.fullmatch(found.group(1)):
        why.append(f"{found.group(1).decode('utf-8', 'replace')!r} is no span id of 16 hex digits")
    if found := _ISO_TIME.search(head):
        why.append(f"{found.group(1).decode()} is a date and not nanoseconds")
    if _PLAIN_MAP.search(head):
        why.append("attributes are a plain map without types")
    return f"it lists spans, and not as OTLP does: {', '.join(why)}" if why else None
