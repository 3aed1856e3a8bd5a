"""A better model is found by name or folder, gives model2vec's own vectors, and whatever is wrong with it is said."""

import os
import shutil
import socket
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.index import embedder
from agent.index.arrays import MOST_TOKENS
from agent.index.embedder import SHIPPED, Embedder, choose_embedder
from agent.index.model_files import FoundModel, check_parts, hub_cache
from tests.index.models import DAMAGES, NAME, WORDS, save_in_hub, static_model

SHIPPED_NAME = "wordllama-l2-256"
TEXTS = ["a cup of green tea", "garden spade kettle", "unheard tea 绿 茶 of words", "word1 word2 word3 word3"]


def chosen(model: str, hub: Path) -> Embedder:
    found = choose_embedder(model, hub)
    assert found.embedder is not None
    assert (found.reason, found.fix) == ("", "")
    return found.embedder


def text_vectors(model: Embedder) -> np.ndarray:
    rows = np.array([model.vectors(tokens).sum(axis=0) for tokens in model.tokens(TEXTS)])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


@pytest.mark.parametrize(
    "kind", [{}, {"unigram": True}, {"dtype": "f2"}, {"dtype": "f8"}, {"dtype": "i1"}, {"mapped": True}], ids=str
)
@pytest.mark.parametrize("place", ["hub", "folder"])
def test_its_vectors_are_those_of_model2vec(tmp_path: Path, kind: dict[str, object], place: str) -> None:
    model = static_model(**kind)  # type: ignore[arg-type]
    folder = save_in_hub(tmp_path, model)
    found = chosen(NAME if place == "hub" else str(folder), tmp_path)
    theirs = model.encode(TEXTS).astype(np.float64)
    theirs /= np.linalg.norm(theirs, axis=1, keepdims=True)
    assert np.abs(text_vectors(found) - theirs).max() < 1e-3


def test_the_multilingual_model_is_used_once_it_is_there(tmp_path: Path) -> None:
    assert chosen("auto", tmp_path).name == SHIPPED_NAME
    save_in_hub(tmp_path, static_model(), "r1", "minishlab/potion-multilingual-128M")
    assert chosen("auto", tmp_path).name == "minishlab/potion-multilingual-128M@r1"
    assert chosen(SHIPPED, tmp_path).name == SHIPPED_NAME


def test_the_revision_that_the_hub_calls_current_is_used_else_the_newest(tmp_path: Path) -> None:
    for at, revision in enumerate(["b", "c", "a"]):
        os.utime(save_in_hub(tmp_path, static_model(at), revision), (at, at))
    assert chosen(NAME, tmp_path).name == f"{NAME}@a"
    refs = tmp_path / "models--someone--small-model" / "refs"
    refs.mkdir()
    (refs / "main").write_text("c\n", "utf-8")
    assert chosen(NAME, tmp_path).name == f"{NAME}@c"


@pytest.mark.parametrize(
    ("environ", "place"),
    [
        ({"HF_HUB_CACHE": "/hub", "HF_HOME": "/home"}, "/hub"),
        ({"HF_HOME": "/home", "XDG_CACHE_HOME": "/caches"}, "/home/hub"),
        ({"XDG_CACHE_HOME": "/caches", "HF_HOME": ""}, "/caches/huggingface/hub"),
        ({}, os.path.expanduser("~/.cache/huggingface/hub")),  # noqa: PTH111
    ],
)
def test_the_cache_is_where_the_hub_s_own_library_has_it(environ: dict[str, str], place: str) -> None:
    assert hub_cache(environ) == Path(place)


def test_other_vectors_in_the_same_folder_are_another_model_and_a_moved_folder_is_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    static_model(1).save_pretrained(folder)
    first = chosen(str(folder), tmp_path).name
    static_model(2).save_pretrained(folder)
    assert chosen(str(folder), tmp_path).name != first
    shutil.rmtree(folder)
    static_model(1).save_pretrained(tmp_path / "elsewhere" / "mine")
    assert chosen(str(tmp_path / "elsewhere" / "mine"), tmp_path).name == first


def test_a_folder_below_the_working_folder_is_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be another model in each folder, and in a cloned vault a stranger's."""
    static_model().save_pretrained(tmp_path / NAME)
    monkeypatch.chdir(tmp_path)
    for model in (NAME, f"./{NAME}"):
        found = choose_embedder(model, tmp_path / "hub")
        assert found.embedder is not None and found.embedder.name == SHIPPED_NAME
        assert f"the model {model} is not on this machine" in found.reason


def test_the_network_is_never_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def refuse(*place: object) -> None:
        asked.append(place)
        raise OSError("there is no network")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.chdir(tmp_path)
    folder = save_in_hub(tmp_path, static_model())
    assert chosen(NAME, tmp_path).name == f"{NAME}@abc"
    assert "is not on this machine" in choose_embedder("someone/else", tmp_path).reason
    for found in (FoundModel(folder / "gone", NAME, "abc"), FoundModel(Path(NAME), NAME)):
        monkeypatch.setattr(embedder, "find_model", lambda *_, found=found: found)  # it goes in this moment
        assert "cannot be loaded" in choose_embedder(NAME, tmp_path).reason
    assert asked == []


def is_usable(model: Embedder) -> bool:
    rows = [model.vectors(tokens) for tokens in model.tokens([*WORDS, "unheard of", ""])]
    return all(np.isfinite(row).all() and row.shape[1] == model.dimensions for row in rows)


@pytest.mark.parametrize("place", ["hub", "folder"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_model_that_cannot_be_used_is_named_with_the_reason_and_what_helps(
    damage: str, place: str, tmp_path: Path
) -> None:
    folder = save_in_hub(tmp_path, static_model())
    DAMAGES[damage](folder)
    model = NAME if place == "hub" else str(folder)
    found = choose_embedder(model, tmp_path)
    assert found.embedder is not None and found.embedder.name == SHIPPED_NAME
    assert found.reason.startswith(f"the model {model} ")
    assert "vault-agent config set index.model shipped" in found.fix
    assert found.notice.isprintable()


def test_a_model_has_no_more_tokens_than_a_note_can_store() -> None:
    for tokens, is_refused in ((MOST_TOKENS, False), (MOST_TOKENS + 1, True)):
        matrix = np.broadcast_to(np.zeros(1, np.float16), (tokens, 1))
        with pytest.raises(ValueError, match="16,777,216") if is_refused else nullcontext():
            check_parts(tokens, matrix, None, None)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model") / "whole"
    static_model(mapped=True).save_pretrained(folder)
    return folder


@settings(max_examples=60)
@given(data=st.data())
def test_any_other_bytes_are_the_model_or_a_reason_and_never_an_error(whole: Path, data: st.DataObject) -> None:
    folder = whole.with_name("damaged")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(whole, folder)
    path = folder / data.draw(st.sampled_from(["model.safetensors", "tokenizer.json", "config.json"]))
    content = path.read_bytes()
    at = data.draw(st.integers(0, min(len(content), 4_000)))
    replaced = data.draw(st.integers(0, 8))
    path.write_bytes(content[:at] + data.draw(st.binary(max_size=8)) + content[at + replaced :])
    found = choose_embedder(str(folder), whole)
    assert found.embedder is not None
    assert is_usable(found.embedder)
    assert bool(found.reason) == bool(found.fix) == (found.embedder.name == SHIPPED_NAME)
