"""Requests as lines of the event log (docs/event-log.md): what client, gateway and engine each saw of every try."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapes import CLIENT_HOST, ENGINE_HOSTS, GATEWAY_HOST, MODEL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from queueing import Request, Try


def lines_of(request: Request) -> Iterator[str]:
    """Every line of a request; no value of it needs an escape."""
    for number, tried in enumerate(request.tries, 1):
        start = f'{{"request":"{request.request_id}","attempt":{number},"event":"'
        yield from _client(request, tried, start)
        yield from _gateway(request, tried, start)
        yield from _engine(request, tried, start)


def _client(request: Request, tried: Try, start: str) -> Iterator[str]:
    same = f'","clock":"{CLIENT_HOST}","side":"client","ns":"'
    yield (
        f'{start}sent{same}{tried.sent_ns}","tenant":"{request.tenant}","model":"{MODEL}",'
        f'"streamed":true,"input_tokens":{request.input_tokens}}}\n'
    )
    if tried.first_content_ns is not None:
        yield f'{start}first_content{same}{tried.first_content_ns}","tokens":1}}\n'
    if tried.last_content_ns is not None:
        yield f'{start}last_content{same}{tried.last_content_ns}"}}\n'
    told = f'"outcome":"{tried.outcome}","status_code":{tried.status_code}'
    if tried.error_type:
        told += f',"error_type":"{tried.error_type}"'
    else:
        told += f',"output_tokens":{request.output_tokens}'
    yield f'{start}done{same}{tried.done_ns}",{told}}}\n'


def _gateway(request: Request, tried: Try, start: str) -> Iterator[str]:
    same = f'","clock":"{GATEWAY_HOST}","side":"gateway","ns":"'
    yield f'{start}arrived{same}{tried.arrived_ns}","tenant":"{request.tenant}"}}\n'
    if tried.admitted_ns is None:
        yield f'{start}rejected{same}{tried.gateway_done_ns}","status_code":{tried.status_code}}}\n'
    else:
        yield f'{start}admitted{same}{tried.admitted_ns}"}}\n'
    yield f'{start}done{same}{tried.gateway_done_ns}","status_code":{tried.status_code}}}\n'


def _engine(request: Request, tried: Try, start: str) -> Iterator[str]:
    if tried.worker is None:
        return
    host = ENGINE_HOSTS[tried.worker]
    same = f'","clock":"{host}","side":"engine","worker":"{host}","ns":"'
    yield f'{start}arrived{same}{tried.engine_arrived_ns}"}}\n'
    if tried.started_ns is not None:
        yield f'{start}started{same}{tried.started_ns}"}}\n'
    if tried.first_token_ns is not None:
        yield f'{start}first_token{same}{tried.first_token_ns}"}}\n'
    if tried.last_token_ns is not None and tried.engine_done_ns is not None:
        yield f'{start}last_token{same}{tried.last_token_ns}"}}\n'
        yield f'{start}done{same}{tried.engine_done_ns}","outcome":"ok","output_tokens":{request.output_tokens}}}\n'
