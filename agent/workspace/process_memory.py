"""How a process uses memory: when Python looks for garbage that refers to itself, and when freed memory is given back.

While a program loads, almost nothing is garbage: looking for some was a fifth of a cold search. A process that stays
looks more often. And glibc gives each thread a heap of its own, up to eight for each processor, and keeps what is freed
in it. Work that follows other work, each in its thread, leaves one half-empty heap after the other: 40 short runs in a
daemon took 200 MB that nothing used. With one heap for all they took 3 MB.
"""

import gc

from agent.platform.here import platform

_LOADING, _STAYING = (200_000, 20, 50), (50_000, 5, 5)
"""Thresholds in new objects; the default of 700 is for programs that import less."""


def look_while_loading() -> None:
    """Look for garbage again, for the first time when much more than the program itself has been made."""
    gc.set_threshold(*_LOADING)
    gc.freeze()
    gc.enable()


def look_while_staying() -> None:
    """Leave out what has been loaded from now on, and look more often at the rest; for a process that runs for long."""
    gc.freeze()
    gc.set_threshold(*_STAYING)


def use_one_heap() -> None:
    """Let all threads of this process share a heap from now on; do nothing where the C library has no such setting."""
    platform().use_one_heap()


def trim_memory() -> None:
    """Return freed memory to the system in about 10 ms; do nothing where the C library cannot."""
    platform().trim_memory()


def give_back_memory() -> None:
    """Look for all garbage, then return freed memory; for the moment after work, 0.1 s in a daemon.

    The parts of a run refer to each other, so that nothing else finds them.
    """
    gc.collect()
    trim_memory()
