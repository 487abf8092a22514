"""One ingest in this process, step by step: prints the seconds of each as JSON. `ingest.py` starts it."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path


def main(file: str, store_path: str) -> None:
    """Do what `analyze ingest FILE --store STORE` does, with a clock between the steps."""
    start = time.perf_counter()
    import polars, pyarrow, scipy.stats  # noqa: E401, F401, ICN001, I001 (with what they import, before the next step)
    from analyzer import ingest
    from analyzer.store import Store

    imported = time.perf_counter()
    with Store(Path(store_path), create=True) as store:
        ingest.ingest_files(store, ingest.find([file])[0])
        ingest.apply_defaults(store)
        appended = time.perf_counter()
        store.derive()
    derived = time.perf_counter()
    json.dump(
        {"import_s": imported - start, "ingest_s": appended - imported, "derive_s": derived - appended}, sys.stdout
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
