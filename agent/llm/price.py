"""The cost of a model's tokens, by a price of our own table or of the library `genai-prices`."""

from typing import TYPE_CHECKING, TypeAlias

from agent.dataclass import dataclass
from agent.llm.messages import Usage

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, Provider

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


@dataclass(frozen=True, slots=True)
class ListedPrice:
    """The price of a model in the library's list, which may change with the hour and with the length of a request."""

    model: "ModelInfo"
    provider: "Provider"


ModelPrice: TypeAlias = Price | ListedPrice


def cost(price: ModelPrice, usage: Usage) -> float:
    """The cost of `usage` in US dollars; the cached part of the input has the cache's price only."""
    cached = min(usage.cached, usage.input)
    written = min(usage.written, usage.input - cached)
    if isinstance(price, ListedPrice):
        return _listed_cost(price, Usage(usage.input, usage.output, cached, written))
    dollars = (usage.input - cached + _STORING * written) * price.input + cached * price.cached
    return (dollars + usage.output * price.output) / _MILLION


def _listed_cost(price: ListedPrice, usage: Usage) -> float:
    from genai_prices import Usage as ListedUsage

    tokens = ListedUsage(
        input_tokens=usage.input,
        output_tokens=usage.output,
        cache_read_tokens=usage.cached,
        cache_write_tokens=usage.written,
    )
    return float(price.model.calc_price(tokens, price.provider).total_price)
