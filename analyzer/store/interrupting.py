"""Ctrl-C while the database works: Python hears of it only when the statement is over, so a thread listens."""

from __future__ import annotations

import signal
import socket
import threading
from contextlib import suppress

import duckdb


class Interruptible:
    """Stops the running statement of a connection when the user presses Ctrl-C, until it is closed."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self._con = con
        self._ends: tuple[socket.socket, socket.socket] | None = None
        # Only a program that leaves Ctrl-C to Python wants this, and only its main thread may ask for it.
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._listen()

    def _listen(self) -> None:
        heard, told = socket.socketpair()
        told.setblocking(False)
        before = signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
        if before != -1:
            signal.set_wakeup_fd(before, warn_on_full_buffer=False)
            heard.close()
            told.close()
            return
        self._ends = heard, told
        threading.Thread(target=self._wait, args=(heard,), daemon=True).start()

    def _wait(self, heard: socket.socket) -> None:
        while number := heard.recv(1):
            if number[0] == signal.SIGINT:
                with suppress(duckdb.Error):  # it may have been closed just now
                    self._con.interrupt()
        heard.close()

    def close(self) -> None:
        """Listen no longer."""
        if self._ends is None:
            return
        _, told = self._ends
        self._ends = None
        signal.set_wakeup_fd(-1)
        told.close()
