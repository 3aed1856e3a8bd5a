"""The cost of a model's tokens; `presets` loads the price of each model from `configs/models.yaml`."""

from agent.dataclass import dataclass
from agent.llm.messages import Usage

_MILLION = 1_000_000
_STORING = 0.25
"""The extra price of storing a token in the provider's cache, as a share of its input price (Anthropic's price
list)."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens: input, output, and input from the provider's cache."""

    input: float
    output: float
    cached: float


def cost(price: Price, usage: Usage) -> float:
    """The cost of `usage` in US dollars; the cached part of the input has the cache's price only."""
    cached = min(usage.cached, usage.input)
    written = min(usage.written, usage.input - cached)
    dollars = (usage.input - cached + _STORING * written) * price.input + cached * price.cached
    return (dollars + usage.output * price.output) / _MILLION
