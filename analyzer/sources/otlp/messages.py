"""OTLP's protobuf messages: one bare, or each after its length, and then perhaps packed by itself."""

from __future__ import annotations

from io import BytesIO
from typing import IO, TYPE_CHECKING, Literal

from analyzer.sources.otlp.json_files import text_into
from analyzer.sources.otlp.proto_spans import is_resource_spans, resource_into

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.sources.base import Options
    from analyzer.sources.otlp.message_columns import MessageColumns
    from analyzer.sources.span_rows import SpanRows

_ZSTD = b"\x28\xb5\x2f\xfd"
_GROUP = 0x0A  # field 1, with a length: the spans, metrics or logs of one resource
_INNER = (0x0A, 0x12, 0x1A)  # its resource, its scopes, its schema
_LENGTH_BYTES = 4
_VARINT_BYTES = 10
_TORN = "torn: the file ends inside this message"
_STRANGE = "not a message of OTLP, and what follows it cannot be told from it"


class _TornError(Exception):
    """The bytes end inside what they announce."""


def framing(head: bytes) -> Literal["bare", "prefixed"] | None:
    """How messages are framed in a file that begins so; None when it holds none."""
    if _is_bare(head):
        return "bare"
    length = int.from_bytes(head[:_LENGTH_BYTES], "big")
    body = head[_LENGTH_BYTES : _LENGTH_BYTES + length]
    if len(head) > _LENGTH_BYTES and head[0] < _GROUP and (body.startswith(_ZSTD) or _is_bare(body, length)):
        return "prefixed"
    return None


def _is_bare(head: bytes, size: int | None = None) -> bool:
    """Whether bytes, perhaps cut off, begin with a group; `size` is that of the whole message."""
    if head[:1] != bytes([_GROUP]):
        return False
    try:
        stream = BytesIO(head[1:])
        length = _varint(stream)
        begin = 1 + stream.tell()
        if size is not None and begin + length > size:
            return False
        group = head[begin : begin + length]
        if len(group) == length:
            return is_resource_spans(group)
        inner = BytesIO(group)
        return inner.read(1)[0] in _INNER and _varint(inner) < length
    except (_TornError, IndexError):
        return False


def _varint(stream: IO[bytes]) -> int:
    value = 0
    for place in range(_VARINT_BYTES):
        byte = stream.read(1)
        if not byte:
            raise _TornError
        value |= (byte[0] & 0x7F) << (7 * place)
        if byte[0] < 0x80:  # noqa: PLR2004 (the bit that says that more follows)
            return value
    return 1 << 63


def message_into(
    stream: IO[bytes], options: Options, rows: SpanRows, columns: MessageColumns | None = None
) -> Iterator[None]:
    """Take a bare message, the spans of one resource at a time; with `columns`, what is plain is handed to them."""
    yield from _groups_into(stream, 0, 1, "", options.max_document_bytes, rows, columns)


def _groups_into(
    stream: IO[bytes],
    offset: int,
    position: int,
    within: str,
    limit: int,
    rows: SpanRows,
    columns: MessageColumns | None,
) -> Iterator[None]:
    """Groups of a message that begins at `offset`; `within` is the place that they are told by, if not their own."""
    while tag := stream.read(1):
        place = within or f"byte {offset}"
        try:
            if tag[0] != _GROUP:
                rows.refuse(place, _STRANGE, tag + stream.read(64))
                yield
                return
            length = _varint(stream)
            group, torn = _read(stream, length, limit)
        except _TornError:
            group, torn, length = tag, True, 0
        if torn:
            rows.refuse(place, _TORN, group)
        elif length > limit:
            rows.refuse(place, _too_large(length, limit), group)
        else:
            yield from resource_into(group, position, place, rows, columns)
        yield
        offset = offset + 1 + _varint_size(length) + length


def _varint_size(value: int) -> int:
    return max(1, (value.bit_length() + 6) // 7)


def _too_large(size: int, limit: int) -> str:
    return f"{size} bytes: larger than {limit}, the limit for what is read at once"


def _read(stream: IO[bytes], length: int, limit: int) -> tuple[bytes, bool]:
    """So many bytes, or only the first ones when they are beyond the limit; and whether the stream ends before."""
    if length <= limit:
        body = stream.read(length)
        return body, len(body) < length
    kept = stream.read(64)
    left = length - len(kept)
    while left:
        block = stream.read(min(left, 1 << 20))
        if not block:
            return kept, True
        left -= len(block)
    return kept, False


def messages_into(
    stream: IO[bytes], options: Options, rows: SpanRows, columns: MessageColumns | None = None
) -> Iterator[None]:
    """Take messages that stand each after its length of four bytes; `columns` as above."""
    limit = options.max_document_bytes
    offset, position = 0, 0
    while prefix := stream.read(_LENGTH_BYTES):
        position += 1
        place = f"byte {offset}"
        length = int.from_bytes(prefix, "big")
        body, torn = _read(stream, length, limit) if len(prefix) == _LENGTH_BYTES else (prefix, True)
        if torn:
            rows.refuse(place, _TORN, body)
        elif length > limit:
            rows.refuse(place, _too_large(length, limit), body)
        else:
            yield from _body_into(body, position, place, limit, rows, columns)
        yield
        offset += _LENGTH_BYTES + length


def _body_into(
    body: bytes, position: int, place: str, limit: int, rows: SpanRows, columns: MessageColumns | None
) -> Iterator[None]:
    if body.startswith(_ZSTD):
        unpacked = _unpacked(body, limit)
        if isinstance(unpacked, str):
            rows.refuse(place, unpacked, body[:64])
            return
        body = unpacked
    if body[:1] != b"{":
        yield from _groups_into(BytesIO(body), 0, position, place, limit, rows, columns)
        return
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        rows.refuse(place, "not UTF-8", body[:120])
        return
    yield from text_into(text, position, place, rows)


def _unpacked(body: bytes, limit: int) -> bytes | str:
    """The bytes of a zstd frame, or why there are none."""
    from zstandard import ZstdDecompressor, ZstdError

    try:
        with ZstdDecompressor().stream_reader(BytesIO(body)) as reader:
            unpacked: bytes = reader.read(limit + 1)
    except (ZstdError, MemoryError) as fault:
        return f"its zstd frame cannot be unpacked: {fault}"
    return unpacked if len(unpacked) <= limit else f"larger than {limit} bytes, the limit for what is read at once"
