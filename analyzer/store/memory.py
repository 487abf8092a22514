"""How much memory the database may use, and where it puts what does not fit."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import duckdb

from analyzer.errors import UsageFault

if TYPE_CHECKING:
    from pathlib import Path

VARIABLE = "ANALYZE_MEMORY"
# Enough that a million requests are derived without the disk, little enough to run beside what is being measured.
_DEFAULT = "2GB"


def bound_memory(con: duckdb.DuckDBPyConnection, store: Path) -> None:
    """Give the database ANALYZE_MEMORY (a size such as 4GB), else 2 GB or 80 % of the machine if that is less.

    What does not fit goes to a folder beside the store. Raises UsageFault where the variable is no size.
    """
    told = os.environ.get(VARIABLE)
    place = str(store.absolute()).replace("'", "''")
    con.execute(f"SET temp_directory = '{place}.tmp'")
    try:
        size, own = con.execute(
            "SELECT parse_formatted_bytes($size), parse_formatted_bytes(current_setting('memory_limit'))",
            {"size": told or _DEFAULT},
        ).fetchall()[0]
    except duckdb.Error as fault:
        raise UsageFault(f"{VARIABLE}={told} is no size", "write a number and a unit, such as 4GB") from fault
    if told or size < own:
        con.execute(f"SET memory_limit = '{int(size)}B'")
