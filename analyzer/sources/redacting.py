"""What of a span's attributes never reaches the store: prompts, answers, headers, stack traces, and what is named."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import translate
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.sources.base import Options

_CONTENT = (
    r"gen_ai\.(input|output)\.messages",
    r"gen_ai\.(prompt|completion)(\..*)?",
    r"gen_ai\.system_instructions",
    r"gen_ai\.content\..*",
    r"gen_ai\.output\.text",
    r"gen_ai\.event\.content",
    r"gen_ai\.tool\.(call\.arguments|call\.result|definitions)",
    r"llm\.(input|output)_messages.*",
    r"llm\.prompts.*",
    r"llm\.completions.*",
    r"llm\.(openai|anthropic|[a-z]+)\.(messages|prompt|input).*",
    r"(input|output)\.value",
    r"traceloop\.entity\.(input|output)",
    r"http\.(request|response)\.header\..*",
    r"metadata\.requester_(metadata|custom_headers)",
    r"(exception|code)\.stacktrace",
    r"messages|prompt|completion|hidden_params",
)
_REMEMBERED = 4096
_HEADERS = "metadata.requester_metadata"
_HEADER = "http.request.header.x-request-id"
_REQUEST_ID = re.compile(r"'x-request-id': '([^']{1,200})'")


@dataclass(frozen=True)
class Redaction:
    """Which attributes are left out: those of content unless `keep_content`, and those whose key is in `drop`.

    A key is met wherever it stands: among the attributes, or inside a nested one, alone or with the keys above it.
    """

    keep_content: bool = False
    drop: tuple[str, ...] = ()

    @classmethod
    def of(cls, options: Options) -> Redaction:
        """What the options ask for."""
        return cls(options.keep_content, options.drop)

    @cached_property
    def _left_out(self) -> Callable[[str], bool] | None:
        named = [translate(name) for name in self.drop]
        patterns = [*(() if self.keep_content else _CONTENT), *named]
        if not patterns:
            return None
        pattern = re.compile("|".join(f"(?:{pattern})" for pattern in patterns))
        # A file has few keys, and each on every span.
        return lru_cache(_REMEMBERED)(lambda key: pattern.fullmatch(key) is not None)

    def keeps(self, key: str) -> bool:
        """Whether an attribute of this key is kept, whatever it holds."""
        return self._left_out is None or not self._left_out(key)

    def __call__(self, attributes: dict[str, Any]) -> tuple[dict[str, Any], int]:
        """The attributes that may be kept, and how many were left out.

        The request id that a gateway wrote among the headers is kept, as x_request_id: it joins, and tells nothing.
        """
        left_out = self._left_out
        if left_out is None or not attributes:
            return attributes, 0
        kept, dropped = _filtered(attributes, left_out, "")
        request_id = None if self.keep_content else _request_id(attributes)
        if request_id and not left_out("x_request_id"):
            kept.setdefault("x_request_id", request_id)
        return kept, dropped


def _request_id(attributes: dict[str, Any]) -> str | None:
    told = attributes.get(_HEADER)
    if isinstance(told, list) and len(told) == 1:
        told = told[0]
    if isinstance(told, str) and told:
        return told
    headers = attributes.get(_HEADERS)
    found = _REQUEST_ID.search(headers) if isinstance(headers, str) else None
    return found.group(1) if found else None


def _filtered(attributes: dict[str, Any], left_out: Callable[[str], bool], above: str) -> tuple[dict[str, Any], int]:
    kept: dict[str, Any] = {}
    dropped = 0
    for key, value in attributes.items():
        path = f"{above}{key}"
        if left_out(path) or (above and left_out(key)):
            dropped += 1
        elif isinstance(value, (dict, list)):
            kept[key], inside = _inside(value, left_out, f"{path}.")
            dropped += inside
        else:
            kept[key] = value
    return kept, dropped


def _inside(value: Any, left_out: Callable[[str], bool], above: str) -> tuple[Any, int]:
    if isinstance(value, dict):
        return _filtered(value, left_out, above)
    if not isinstance(value, list) or not any(isinstance(item, (dict, list)) for item in value):
        return value, 0
    inner = [_inside(item, left_out, above) for item in value]
    return [item for item, _ in inner], sum(dropped for _, dropped in inner)
