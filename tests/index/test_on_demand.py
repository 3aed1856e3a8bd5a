"""What was loaded for a search is given back when nobody asks for it, and loaded again when somebody does."""

import numpy as np
import pytest

from agent.index.embedder import load_wordllama
from agent.index.model_files import OnDemand, forget_unasked, is_any_held


def test_a_value_is_loaded_once_and_forgotten_when_nobody_has_asked_since_the_last_call() -> None:
    loaded, let_go = list[object](), list[object]()

    def load() -> object:
        loaded.append(object())
        return loaded[-1]

    value = OnDemand(load, let_go.append)
    assert not value.is_held
    first = value.get()
    assert value.get() is first and value.is_held
    forget_unasked()
    assert value.get() is first
    forget_unasked()
    assert value.is_held and is_any_held()
    forget_unasked()
    assert not value.is_held and let_go == [first]
    assert value.get() is not first and len(loaded) == 2


def test_a_value_that_is_none_is_loaded_once_too() -> None:
    loaded = list[None]()
    value = OnDemand(lambda: loaded.append(None))
    assert value.get() is value.get() is None and len(loaded) == 1


def test_a_model_gives_back_its_tokenizer_and_finds_the_same_afterwards() -> None:
    pytest.importorskip("wordllama")
    model = load_wordllama()

    def found() -> list[object]:
        (tokens,) = model.tokens(["a garden 预算"])
        return [tokens.tolist(), model.vectors(tokens).tolist()]

    before = found()
    forget_unasked()
    forget_unasked()
    assert found() == before
    assert np.isfinite(model.vectors(np.arange(len(model.matrix), dtype=np.int32))).all()
