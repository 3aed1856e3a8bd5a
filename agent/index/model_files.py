"""Finds a model2vec model on this machine, by its name in the hub cache or its folder, and checks what was loaded."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from agent.dataclass import dataclass
from agent.index.arrays import MOST_TOKENS, Floats, Ints

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
