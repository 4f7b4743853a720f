"""Settings of the C library's memory allocator."""

from __future__ import annotations

_LARGEST = 2**25 - 2**16  # bytes; blocks of 32 MB or more do not change glibc's threshold


def keep_freed_memory() -> None:
    """Make glibc keep freed blocks of up to 32 MB for reuse.

    By default glibc returns large blocks to the system, which must zero their pages again at the next allocation: this
    took up to a third of a small encoder's inference time, and a tenth of the time of curation. glibc raises its
    threshold (``M_MMAP_THRESHOLD``) to the size of the largest such block freed so far, so allocating and freeing one
    is enough. In return the process may hold some 64 MB of unused memory.
    """
    bytes(_LARGEST)
