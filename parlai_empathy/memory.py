"""What becomes of memory that is freed."""

from __future__ import annotations

_LARGEST = 2**25 - 2**16  # bytes; from 32 MB on the C library learns nothing


def keep_freed_memory() -> None:
    """Have Linux's C library keep what is freed, in pieces of up to 32 MB, for what is asked for next.

    It gives large pieces back to the system, which clears them anew, page by page, whenever the same is asked for
    again: up to a third of the time in which a small encoder reads, and a tenth of what curation took. From which size
    on it does so it learns from the largest piece that it was ever given back: here is one. In return some 64 MB may
    stay with the process.
    """
    bytes(_LARGEST)
