"""Open the keyword engine of a name; a search with one engine never imports the other."""

from importlib import import_module
from pathlib import Path

from agent.index.keyword import Engine, KeywordIndex
from agent.index.weights import Weights


def open_engine(engine: Engine, folder: Path, weights: Weights) -> KeywordIndex:
    """The engine over a folder, which may not exist yet; raises `ImportError` when the engine is not installed."""
    module, name = {
        "whoosh": ("agent.index.whoosh_keyword", "WhooshKeyword"),
        "tantivy": ("agent.index.tantivy_keyword", "TantivyKeyword"),
    }[engine]
    opened: KeywordIndex = getattr(import_module(module), name)(folder, weights)
    return opened
