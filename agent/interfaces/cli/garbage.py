"""When Python looks for garbage that refers to itself: hardly while a program loads, where almost nothing is garbage.

Together with one thread for OpenBLAS this was a fifth of a cold search. A process that stays looks more often.
"""

import gc

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
