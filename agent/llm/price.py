"""What a model's tokens cost; which model has which price is written in `configs/models.yaml` and read by `presets`."""

from dataclasses import dataclass

from agent.llm.messages import Usage

_MILLION = 1_000_000
_STORING = 0.25
"""What storing a token in the provider's cache costs beside its price as input (Anthropic's price list)."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens in, out, and in from the provider's cache."""

    input: float
    output: float
    cached: float


def cost(price: Price, usage: Usage) -> float:
    """What `usage` costs, in US dollars; the cached part of the input is counted at its own price only."""
    cached = min(usage.cached, usage.input)
    written = min(usage.written, usage.input - cached)
    dollars = (usage.input - cached + _STORING * written) * price.input + cached * price.cached
    return (dollars + usage.output * price.output) / _MILLION
