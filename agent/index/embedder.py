"""Embeds texts with a static model: the best one on this machine, never one from the network.

In order: the model named in the settings, a model2vec model in the local hub cache, the vectors that wordllama ships. A
static model's text vector is the weighted sum of its tokens' vectors, so an index keeps tokens, and a search computes
every similarity from the few rows of the matrix that it needs. wordllama's matrix is mapped instead of loaded, and
summed here instead of by `model2vec`, which takes 0.2 s to import.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from importlib.util import find_spec
from itertools import chain
from math import prod
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from agent.dataclass import dataclass
from agent.index.arrays import Floats, Ints
from agent.index.model_files import (
    FoundModel,
    check_parts,
    content_of,
    encoded,
    find_model,
    give_back_pages_of,
    hub_cache,
    is_hub_name,
    is_path,
    tokenizer_of,
)
from agent.json_value import parse_json
from agent.texts import Sentence

MULTILINGUAL = "minishlab/potion-multilingual-128M"
AUTO, SHIPPED = ("", "auto"), "shipped"
"""The values of `index.model` that name no model."""
_BYTES = 259
"""Tokens of wordllama below this are marks and single bytes; from here on they are in descending frequency."""
_COMMON = 300.0
"""A token at this rank has half the weight: the smooth inverse frequency of Arora et al. 2017, by rank."""
_BYTE_WEIGHT = 0.5
_ONE = np.float32(1)


class Embedder(Protocol):
    """A static model. `name` is different for different vectors."""

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def tokens(self, texts: Sequence[str]) -> list[Ints]:
        """The tokens of each text."""
        ...

    def vectors(self, tokens: Ints) -> Floats:
        """A row for each token, weighted so that a text's vector is the sum of its rows."""
        ...


TOGETHER = 500_000
"""Characters that are tokenized at once."""


@dataclass(frozen=True, slots=True)
class StaticEmbedder:
    """A matrix with a row for each token, through `mapping` if the model has one; `ids` tokenizes texts."""

    name: str
    ids: Callable[[Sequence[str]], Sequence[Sequence[int]]]
    matrix: NDArray[np.float32] | NDArray[np.float16]
    weights: Floats | None = None
    mapping: Ints | None = None
    unknown: int = -1

    @property
    def dimensions(self) -> int:
        return int(self.matrix.shape[1])

    def tokens(self, texts: Sequence[str]) -> list[Ints]:
        arrays = [each for part in in_parts(texts) for each in _arrays(self.ids(part))]
        return arrays if self.unknown < 0 else [array[array != self.unknown] for array in arrays]

    def vectors(self, tokens: Ints) -> Floats:
        rows = self.matrix.take(tokens if self.mapping is None else self.mapping[tokens], axis=0)
        return widened(rows, _ONE if self.weights is None else self.weights[tokens][:, None])


def _arrays(numbers: Sequence[Sequence[int]]) -> Sequence[Ints]:
    """The numbers of each text as an array; made together, as an array for each of 200,000 lines takes a second."""
    lengths = [len(each) for each in numbers]
    joined = np.fromiter(chain.from_iterable(numbers), np.int32, sum(lengths))
    return np.split(joined, np.cumsum(lengths[:-1])) if lengths else []


def in_parts(texts: Sequence[str], together: int = TOGETHER) -> Iterator[Sequence[str]]:
    """The texts in groups of so many characters: a tokenizer needs about a hundred bytes for each."""
    start, size = 0, 0
    for at, text in enumerate(texts):
        if size and size + len(text) > together:
            yield texts[start:at]
            start, size = at, 0
        size += len(text)
    if start < len(texts):
        yield texts[start:]


def widened(numbers: NDArray[np.float16] | NDArray[np.float32], weights: Floats | np.float32 = _ONE) -> Floats:
    """Finite numbers in 32 bits, times weights below 32,768. Numbers of 16 bits are converted by shifting, five times
    as fast as `astype`.

    Exponent and fraction are moved to their new bits; a factor corrects the different exponent bias.
    """
    if numbers.dtype != np.float16:
        return numbers * weights
    bits = numbers.view(np.int16).astype(np.int32)
    bits <<= 13
    bits &= np.int32(-0x7000_0001)  # the copies of the sign
    rows: Floats = bits.view(np.float32)
    rows *= weights * np.float32(2.0**112)
    return rows


@dataclass(frozen=True, slots=True)
class EmbedderChoice:
    """The embedder that was found, if any; `reason` tells the person why it is not the configured one, and `fix` what
    helps."""

    embedder: Embedder | None
    reason: str = ""
    fix: str = ""
    load: Callable[[], Embedder | None] | None = None
    """Loads the same embedder in another process; None if that cannot be done."""

    @property
    def notice(self) -> str:
        """The reason and what helps, in one line; empty if the configured model is used."""
        return Sentence("{reason} ({fix})", reason=self.reason, fix=self.fix) if self.fix else self.reason


def choose_embedder(model: str = "", hub: Path | None = None) -> EmbedderChoice:
    """The best embedder on this machine. `model`: `index.model` of the settings; `hub`: the local hub cache, by default
    that of the environment.

    Never raises and never downloads: without any model, `reason` explains why search is by keywords only.
    """
    wanted = MULTILINGUAL if model in AUTO else model
    hub = hub_cache(os.environ) if hub is None else hub
    reason = fix = ""
    try:
        found = None if model == SHIPPED else find_model(wanted, hub)
        if found is not None:
            return EmbedderChoice(_model2vec(found), load=partial(_model2vec, found))
        if model not in (*AUTO, SHIPPED):
            reason, fix = _missing(model, hub)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 - a tokenizer's panic is no `Exception`, and search goes on after it
        why = str(error).partition("\n")[0] or type(error).__name__
        reason, fix = (
            Sentence("the model {model} cannot be loaded: {reason}", model=wanted, reason=why),
            Sentence("mend its files, or {keep}", keep=_KEEP),
        )
    try:
        shipped = load_wordllama()
    except (OSError, ValueError, KeyError, ImportError) as error:
        return EmbedderChoice(
            None,
            reason or Sentence("no embedding model: {reason}", reason=error),
            fix or "install vault-agent again",
            _no_embedder,
        )
    instead = Sentence("{reason}; the one that comes with the program is used", reason=reason) if reason else ""
    return EmbedderChoice(shipped, instead, fix, load_wordllama)


def _no_embedder() -> None:
    """Load nothing: there is no model on this machine."""


_KEEP = f"vault-agent config set index.model {SHIPPED}"
_PROBE = "tea 茶 \ue000"
"""A text with a word, a Han character and a character that no model knows."""


def _model2vec(found: FoundModel) -> StaticEmbedder:
    """The model in a folder, after one text; whatever its files raise in other libraries is raised."""
    from model2vec import StaticModel

    # A whole path is no name in a hub: for a folder that is gone by now, the network is not asked either.
    model = StaticModel.from_pretrained(found.folder.absolute())
    weights = None if model.weights is None else np.asarray(model.weights, dtype=np.float32)
    mapping = None if model.token_mapping is None else np.asarray(model.token_mapping, dtype=np.int32)
    unknown = -1 if model.unk_token_id is None else int(model.unk_token_id)
    tokenizer = model.tokenizer
    tokenizer.no_truncation()
    last = tokenizer.token_to_id(model.tokens[-1]) or 0  # they are in the order of their numbers
    check_parts(last + 1, model.embedding, weights, mapping)
    revision = found.revision or content_of(tokenizer.to_str(), model.embedding, weights, mapping)
    embedder = StaticEmbedder(
        f"{found.name}@{revision}", lambda texts: encoded(tokenizer, texts), model.embedding, weights, mapping, unknown
    )
    embedder.vectors(embedder.tokens([_PROBE])[0])
    return embedder


def _missing(model: str, hub: Path) -> tuple[str, str]:
    """The reason why a model is not found, and what helps."""
    reason = Sentence("the model {model} is not on this machine", model=model)
    if is_path(model):
        return Sentence("{reason}: there is no such folder", reason=reason), Sentence(
            "give the path of its folder, or {keep}", keep=_KEEP
        )
    if not is_hub_name(model):
        return Sentence(
            "{reason}: it is neither a whole path nor a name such as {example}",
            reason=reason,
            example=MULTILINGUAL,
        ), _KEEP
    return Sentence("{reason}: it is not in {folder}", reason=reason, folder=hub), Sentence(
        "`hf download {model}` fetches it; or {keep}", model=model, keep=_KEEP
    )


def shipped_embedder() -> Embedder | None:
    """The embedder that ships with the program, None if it is missing."""
    return choose_embedder(SHIPPED).embedder


def load_wordllama() -> StaticEmbedder:
    """The model in the package wordllama; raises `ImportError`, `OSError` or `ValueError` when it is missing or
    invalid."""
    spec = find_spec("wordllama")  # not imported: the package itself takes a quarter of a second
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("the package wordllama is not installed")
    folder = Path(next(iter(spec.submodule_search_locations)))
    tokenizer = folder / "tokenizers" / "l2_supercat_tokenizer_config.json"
    if find_spec("tokenizers") is None or not tokenizer.is_file():
        raise ImportError("the tokenizer of wordllama is not installed")
    matrix = map_matrix(folder / "weights" / "l2_supercat_256.safetensors")
    rank = np.maximum(np.arange(len(matrix), dtype=np.float32) - _BYTES, 1.0)
    weights = rank / (rank + np.float32(_COMMON))
    weights[:_BYTES] = _BYTE_WEIGHT
    return StaticEmbedder(
        "wordllama-l2-256",
        lambda texts: encoded(tokenizer_of(tokenizer).get(), texts),
        matrix,
        weights.astype(np.float32),
    )


def map_matrix(path: Path) -> NDArray[np.float32] | NDArray[np.float16]:
    """The only matrix of a safetensors file, mapped into memory; raises `ValueError` for any other content.

    All who ask for the same file share one mapping: each run opens an index of its own, and its pages and its file
    handle would be counted once for each of them.
    """
    status = path.stat()
    return _mapped(path, (status.st_ino, status.st_size, status.st_mtime_ns))


@lru_cache(maxsize=2)
def _mapped(path: Path, version: tuple[int, ...]) -> NDArray[np.float32] | NDArray[np.float16]:
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = parse_json(file.read(length))
        header.pop("__metadata__", None)
        if len(header) != 1:
            raise ValueError(f"{path.name} holds {len(header)} arrays instead of one")
        (entry,) = header.values()
        kind = {"F16": np.float16, "F32": np.float32}[entry["dtype"]]
        offset = 8 + length + entry["data_offsets"][0]
        shape = tuple(entry["shape"])
        mapped = mmap(file.fileno(), 0, access=ACCESS_READ)
    give_back_pages_of(mapped)
    return np.frombuffer(mapped, kind, prod(shape), offset).reshape(shape)
