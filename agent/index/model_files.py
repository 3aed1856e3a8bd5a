"""The files of a static model on this machine, and its tokenizer, loaded with the first text.

What is loaded when it is first asked for, and given back when nothing has asked for it for a while.

A tokenizer, the vectors of all notes and the pages of a model are 50 MB of a daemon that has answered one search, or
taken in one note. To load them again takes a tenth of a second.
"""

import mmap
import os
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from weakref import WeakSet
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from agent.dataclass import dataclass
from agent.index.arrays import MOST_TOKENS, Floats, Ints
from agent.platform.here import platform

if TYPE_CHECKING:
    from tokenizers import Tokenizer

T = TypeVar("T")


def _keep_nothing(value: object) -> None:
    """Do nothing; for a value that needs only be forgotten."""


class OnDemand(Generic[T]):
    """A value that `load` returns when it is asked for. Thread-safe; whoever has the value may keep it.

    `let_go` is called with a value that is given back.
    """

    def __init__(self, load: Callable[[], T], let_go: Callable[[T], object] = _keep_nothing) -> None:
        self._load, self._let_go = load, let_go
        self._held: list[T] = []
        self._is_asked = False
        self._lock = threading.Lock()
        _values.add(self)

    @property
    def is_held(self) -> bool:
        return bool(self._held)

    def get(self) -> T:
        """The value, loaded if it is not held."""
        with self._lock:
            self._is_asked = True
            if not self._held:
                self._held.append(self._load())
            return self._held[0]

    def forget_unasked(self) -> None:
        """Hold nothing more, unless it was asked for since the last call."""
        with self._lock:
            left, self._held = ([], self._held) if self._is_asked else (self._held, [])
            self._is_asked = False
        for each in left:
            self._let_go(each)


_values: WeakSet[OnDemand[Any]] = WeakSet()
_maps: WeakSet[mmap.mmap] = WeakSet()


def give_back_pages_of(mapped: mmap.mmap) -> None:
    """Let `forget_unasked` give back the memory of what was read of a mapped file."""
    _maps.add(mapped)


def is_any_held() -> bool:
    """True if `forget_unasked` may have something to give back, now or later."""
    return any(each.is_held for each in [*_values])


def forget_unasked() -> None:
    """Forget what was not asked for since the last call, and have mapped files read from the disk, or the system's
    cache, when they are asked for again."""
    for each in [*_values]:
        each.forget_unasked()
    for mapped in [*_maps]:
        platform().forget_pages(mapped)


_NAME = re.compile(r"[\w.-]+(?:/[\w.-]+)?")


@dataclass(frozen=True, slots=True)
class FoundModel:
    """The folder of a model's files. `revision` is empty for a folder that a person may write to."""

    folder: Path
    name: str
    revision: str = ""


def hub_cache(environ: Mapping[str, str]) -> Path:
    """The folder of downloaded models, as the hub's own library finds it."""
    caches = environ.get("XDG_CACHE_HOME") or "~/.cache"
    home = environ.get("HF_HOME") or f"{caches}/huggingface"
    folder = environ.get("HF_HUB_CACHE") or environ.get("HUGGINGFACE_HUB_CACHE") or f"{home}/hub"
    return Path(os.path.expanduser(os.path.expandvars(folder)))  # noqa: PTH111 - Path's own fails without a home


def is_path(model: str) -> bool:
    """True if `model` is the whole path of a folder.

    A path from the working folder is none: it would mean another model in each folder, and in a cloned vault a
    stranger's.
    """
    return model.startswith("~") or Path(model).is_absolute()


def is_hub_name(model: str) -> bool:
    """True if `model` can be the name of a model in a hub, such as `minishlab/potion-base-8M`."""
    return _NAME.fullmatch(model) is not None


def find_model(model: str, hub: Path) -> FoundModel | None:
    """The model of a name in the hub cache, or in a folder by its whole path; None if it is not on this machine."""
    if is_path(model):
        folder = Path(os.path.expanduser(model))  # noqa: PTH111 - Path's own fails without a home
        return FoundModel(folder, folder.name) if folder.is_dir() else None
    if not is_hub_name(model):
        return None
    place = hub / f"models--{model.replace('/', '--')}"
    try:
        current = (place / "refs" / "main").read_text("utf-8", "replace").strip()
    except OSError:
        current = ""
    found = [path for path in place.glob("snapshots/*") if path.is_dir()]
    if not found:
        return None
    newest = max(found, key=lambda path: (path.name == current, path.stat().st_mtime, path.name))
    return FoundModel(newest, model, newest.name)


def check_parts(tokens: int, matrix: NDArray[np.floating], weights: Floats | None, mapping: Ints | None) -> None:
    """Raise `ValueError` when the parts of a model with so many tokens do not belong together, or hold no numbers."""
    if matrix.ndim != 2 or not matrix.size:
        raise ValueError(f"its embeddings have the shape {matrix.shape}, which is no table")
    shape = matrix.shape[:1] if mapping is None else mapping.shape
    if shape != (tokens,):
        raise ValueError(f"its tokenizer has {tokens:,} tokens, and its embeddings are for {shape}")
    if tokens > MOST_TOKENS:
        raise ValueError(f"it has {tokens:,} tokens, and no more than {MOST_TOKENS:,} can be stored")
    if weights is not None and weights.shape != shape:
        raise ValueError(f"its weights have the shape {weights.shape}, and its tokenizer has {tokens:,} tokens")
    if mapping is not None and not 0 <= int(mapping.min()) <= int(mapping.max()) < len(matrix):
        raise ValueError("its mapping names rows that its embeddings do not have")
    with np.errstate(over="ignore", invalid="ignore"):
        sums = [each.sum(dtype=np.float32) for each in (matrix, weights) if each is not None]
    if not np.isfinite(sums).all():
        raise ValueError("its embeddings are not all numbers")


def content_of(tokenizer: str, *arrays: NDArray[np.generic] | None) -> str:
    """A checksum of a model's parts, which is another one for other vectors."""
    total = crc32(tokenizer.encode())
    for array in arrays:
        total = total if array is None else crc32(np.ascontiguousarray(array).data, total)
    return f"{total:08x}"


@cache
def tokenizer_of(file: Path) -> OnDemand["Tokenizer"]:
    """The tokenizer in a file, the same for all who ask for it."""
    return OnDemand(lambda: _tokenizer_in(file))


def _tokenizer_in(file: Path) -> "Tokenizer":
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    # Its cache keeps whole lines, which are rarely repeated: 110 MB after a large burst, and no faster.
    tokenizer.model._resize_cache(0)
    return tokenizer


def encoded(tokenizer: "Tokenizer", texts: Sequence[str]) -> list[list[int]]:
    """The tokens of each text, without those that mark its ends."""
    return [each.ids for each in tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]
