"""OTLP traces: JSON as lines or documents, protobuf bare or length-prefixed, plain, gzip or zstd; Tempo's JSON too."""

from __future__ import annotations

from io import BytesIO
from typing import IO, TYPE_CHECKING

from analyzer.errors import SourceError
from analyzer.sources.base import HEAD_BYTES
from analyzer.sources.opening import head as first_bytes
from analyzer.sources.opening import open_counted
from analyzer.sources.otlp import json_files, json_lines, lookalikes, messages
from analyzer.sources.otlp.forms import Form, form_of, holds_otlp
from analyzer.sources.span_rows import SpanRows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from analyzer.sources.base import Frames, Options


class _Otlp:
    name = "otlp"
    joins_lines = True

    def sniff(self, head: bytes, path: Path) -> bool:  # noqa: ARG002 (content decides, not the name)
        """Messages of OTLP, or JSON with one of its lists under the keys where OTLP or Tempo put them."""
        return messages.framing(head) is not None or holds_otlp(BytesIO(head), head)

    def explain(self, head: bytes, path: Path) -> str | None:  # noqa: ARG002 (content decides, not the name)
        """Why a file that speaks of spans is not OTLP."""
        return lookalikes.explain(head)

    def read(self, path: Path, options: Options) -> Iterator[Frames]:
        """Rows of `span`: times in ns as written, attributes as JSON with their types."""
        rows = SpanRows(options)
        form = form_of(path, first_bytes(path, HEAD_BYTES), options)
        if form is Form.LINES:
            yield from json_lines.lines_into(path, options, rows)
        else:
            stream, count = open_counted(path)
            with stream:
                for _ in self._steps(form, path, stream, options, rows):
                    yield from rows.flush_full(count())
        yield rows.flush(path.stat().st_size, last=True)

    def _steps(
        self, form: Form | None, path: Path, stream: IO[bytes], options: Options, rows: SpanRows
    ) -> Iterator[None]:
        """Take record after record into `rows`."""
        if form is Form.DOCUMENTS:
            return json_files.documents_into(stream, options, rows)
        if form is Form.MESSAGE:
            return messages.message_into(stream, options, rows)
        if form is Form.MESSAGES:
            return messages.messages_into(stream, options, rows)
        raise SourceError(f"{path} is no OTLP that can be read", "`analyze sources` lists the formats")


SOURCE = _Otlp()
