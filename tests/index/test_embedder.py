"""Which model is used, and that the one which ships gives the vectors it should."""

import json
from pathlib import Path

import numpy as np
import pytest

from agent.index.embedder import choose_embedder, load_wordllama, map_matrix, widened

pytest.importorskip("wordllama")
pytest.importorskip("tokenizers")


def test_without_settings_or_a_cache_the_shipped_model_is_used(tmp_path: Path) -> None:
    chosen = choose_embedder("", tmp_path)
    assert chosen.embedder is not None
    assert (chosen.embedder.name, chosen.embedder.dimensions, chosen.reason) == ("wordllama-l2-256", 256, "")


def test_a_model_that_is_not_here_is_named_and_the_shipped_one_used(tmp_path: Path) -> None:
    chosen = choose_embedder("someone/some-model", tmp_path)
    assert chosen.embedder is not None
    assert "someone/some-model is not on this machine" in chosen.reason


def test_a_broken_model_in_the_cache_is_no_reason_to_fail(tmp_path: Path) -> None:
    folder = tmp_path / "models--minishlab--potion-multilingual-128M" / "snapshots" / "abc"
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"broken")
    chosen = choose_embedder("", tmp_path)
    assert chosen.embedder is not None
    assert "cannot be loaded" in chosen.reason


def test_near_meanings_lie_nearer_than_far_ones() -> None:
    model = load_wordllama()
    cat, kitten, tax = (
        model.vectors(tokens).sum(axis=0) for tokens in model.tokens(["a cat", "a kitten", "income tax law"])
    )

    def cosine(one: np.ndarray, other: np.ndarray) -> float:
        return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))

    assert cosine(cat, kitten) > cosine(cat, tax) + 0.2


def test_widened_numbers_are_the_same_numbers() -> None:
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    finite = halves[np.isfinite(halves)]
    assert (widened(finite).view(np.uint32) == finite.astype(np.float32).view(np.uint32)).all()


def test_weights_are_multiplied_as_if_the_numbers_had_been_wide() -> None:
    chance = np.random.default_rng(1)
    halves = np.concatenate([chance.normal(size=(50, 7)), np.full((1, 7), 1e-7)]).astype(np.float16)
    weights = chance.random((51, 1), np.float32)
    assert (widened(halves, weights) == halves.astype(np.float32) * weights).all()


def matrix_file(path: Path, values: list[float]) -> None:
    """A safetensors file with one row of numbers."""
    data = np.array([values], dtype=np.float32).tobytes()
    header = json.dumps({"m": {"dtype": "F32", "shape": [1, len(values)], "data_offsets": [0, len(data)]}}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + data)


def test_all_who_use_a_model_share_one_mapping_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    matrix_file(path, [1.0, 2.0])
    one, other = map_matrix(path), map_matrix(path)
    assert np.shares_memory(one, other) and one.tolist() == [[1.0, 2.0]]


def test_a_file_that_was_replaced_is_mapped_anew(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    matrix_file(path, [1.0, 2.0])
    before = map_matrix(path)
    matrix_file(tmp_path / "new", [3.0, 4.0])
    (tmp_path / "new").replace(path)
    assert (map_matrix(path).tolist(), before.tolist()) == ([[3.0, 4.0]], [[1.0, 2.0]])
