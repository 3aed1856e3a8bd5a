"""Small embedding models, written by model2vec itself, and what can go wrong with their files."""

import json
import os
import shutil
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

import numpy as np
from model2vec import StaticModel
from tokenizers import Tokenizer, models, pre_tokenizers

SHOWN = "a cup of green tea kettle brewed degrees garden spade 一 杯 绿 茶 一杯绿茶"
WORDS = [*dict.fromkeys(SHOWN.split()), *(f"word{number}" for number in range(200))]
NAME = "someone/small-model"


def static_model(seed: int = 1, *, unigram: bool = False, dtype: str = "f4", mapped: bool = False) -> StaticModel:
    """A model of a few hundred words in 16 dimensions; `mapped`: several words share a row."""
    if unigram:
        scored = [("<unk>", 0.0), *((f"▁{word}", -1.0) for word in WORDS)]
        tokenizer = Tokenizer(models.Unigram(scored, unk_id=0))
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    else:
        tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(["[UNK]", *WORDS])}, "[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    size, chance = len(WORDS) + 1, np.random.default_rng(seed)
    rows = chance.standard_normal((size // 4 if mapped else size, 16)) * 20
    weights = chance.random(size).astype(np.float32) if mapped else None
    mapping = chance.integers(0, len(rows), size) if mapped else None
    return StaticModel(rows.astype(dtype), tokenizer, weights=weights, token_mapping=mapping)


def save_in_hub(hub: Path, model: StaticModel, revision: str = "abc", name: str = NAME) -> Path:
    """Save a model as a download leaves it, and return its folder."""
    folder = hub / f"models--{name.replace('/', '--')}" / "snapshots" / revision
    model.save_pretrained(folder)
    return folder


def _cut(name: str, length: int) -> Callable[[Path], None]:
    return lambda folder: os.truncate(folder / name, length)


def _write(name: str, text: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        (folder / name).write_text(text, "utf-8")

    return write


def _remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def _fewer_rows(folder: Path) -> None:
    """The matrix of another model, of fewer words."""
    other = folder.with_name("other")
    small = Tokenizer(models.WordLevel({"[UNK]": 0, "tea": 1}, "[UNK]"))
    StaticModel(np.ones((2, 16), np.float32), small).save_pretrained(other)
    shutil.move(other / "model.safetensors", folder / "model.safetensors")
    shutil.rmtree(other)


def _no_numbers(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-4] + np.array([np.nan], np.float32).tobytes())


def _no_unknown(folder: Path) -> None:
    """A tokenizer that fails only when it meets an unknown word."""
    path = folder / "tokenizer.json"
    tree = json.loads(path.read_text("utf-8"))
    tree["model"]["unk_token"] = "gone"
    path.write_text(json.dumps(tree), "utf-8")


def _panic(folder: Path) -> None:
    """A tokenizer that ends in a panic of its library, which is no `Exception`, at any text."""
    path = folder / "tokenizer.json"
    tree = json.loads(path.read_text("utf-8"))
    table = (256).to_bytes(4, "little") + b"\x00\xf4\xff\x7f" * 64  # its nodes are at places outside of it
    tree["normalizer"] = {"type": "Precompiled", "precompiled_charsmap": b64encode(table).decode()}
    path.write_text(json.dumps(tree), "utf-8")


def _loop(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.symlink_to(folder)


def _empty(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


def _file(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("no folder", "utf-8")


def _folder_for_file(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer.json").mkdir()


def _unreadable(folder: Path) -> None:
    """No permission; where the tests run as root, who may read everything, a link into a loop."""
    path = folder / "model.safetensors"
    if os.geteuid():
        path.chmod(0)
    else:
        path.unlink()
        path.symlink_to(path.name)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "vectors cut": _cut("model.safetensors", 900),
    "vectors cut in their header": _cut("model.safetensors", 30),
    "vectors empty": _cut("model.safetensors", 0),
    "vectors gone": _remove("model.safetensors"),
    "vectors not numbers": _no_numbers,
    "vectors of another model": _fewer_rows,
    "tokenizer cut": _cut("tokenizer.json", 100),
    "tokenizer no JSON": _write("tokenizer.json", "{]"),
    "tokenizer something else": _write("tokenizer.json", '{"version": "1.0"}'),
    "tokenizer of no words": _no_unknown,
    "tokenizer that panics": _panic,
    "tokenizer a folder": _folder_for_file,
    "tokenizer gone": _remove("tokenizer.json"),
    "settings no JSON": _write("config.json", "{]"),
    "settings gone": _remove("config.json"),
    "no permission": _unreadable,
    "a link to itself": _loop,
    "a file": _file,
    "an empty folder": _empty,
    "nothing": shutil.rmtree,
}
"""Damages after which a model cannot be used, by name."""
