"""What an index was made with: one that was made with anything else cannot be updated or searched."""

import json

from agent.index.embedder import EmbedderChoice
from agent.index.keyword import Weights
from agent.index.passage_store import VERSION
from agent.index.query import Engine


def index_identity(engine: Engine, chosen: EmbedderChoice, weights: Weights) -> str:
    """The engine, model and field weights of an index, and the version of its format, as it keeps them."""
    name = chosen.embedder.name if chosen.embedder else "none"
    return json.dumps([VERSION, engine, name, dict(weights.fields)])
