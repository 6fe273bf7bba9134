"""Freed memory is used again in place of being given back to the system.

PyTorch on a CPU asks the C library for the memory of every tensor. glibc gives large pieces back as soon as
they are freed. The next step gets new pages, and the kernel fills each with zeros first. With a pretrained
network on pictures of 224 pixels that takes longer than the network itself.
"""

import ctypes
import os
import sys

#: The parameters of glibc's ``mallopt``, from ``malloc.h``.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _MMAP_MAX, _ARENA_MAX = -1, -3, -4, -8
#: Pieces of a gibibyte and more still go back; the free end of the heap does from two.
_LARGE, _FREE_END = 2**30, 2**31 - 1


def keep_memory() -> bool:
    """Let this process keep freed memory for its next tensors. True if the C library takes the setting.

    It is about the whole process, so programs call it, not the library: `samekind` does at its start. The
    memory of the process then stays at its largest. All threads share one heap, since only the first one of
    glibc holds large pieces. Without glibc, or where the environment sets ``MALLOC_...`` or another
    allocator (``LD_PRELOAD``), nothing is changed.
    """
    if any(name.startswith("MALLOC_") or name == "LD_PRELOAD" for name in os.environ):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is None:
        return False
    # Where glibc refuses so large a threshold, no piece at all is mapped on its own.
    mapped = mallopt(_MMAP_THRESHOLD, _LARGE) or mallopt(_MMAP_MAX, 0)
    return bool(mapped and mallopt(_TRIM_THRESHOLD, _FREE_END) and mallopt(_ARENA_MAX, 1))
