"""What is known of a model by its name, and what was learned of it on this machine."""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from agent.clock import Clock
from agent.config import private
from agent.dataclass import dataclass
from agent.llm.endpoint import is_public
from agent.llm.messages import Json, JsonObject, Usage, items, mapping, moment, number, parsed, text

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, Provider
if TYPE_CHECKING:
    from genai_prices.data_snapshot import DataSnapshot


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


HOSTED_WINDOW = 128_000
"""The context window in tokens of an unknown model of a company's server: no smaller one is sold any more."""
OWN_WINDOW = 32_768
"""The context window in tokens of an unknown model on the person's own server, until that was asked."""
USED_WINDOW = 200_000
"""The most tokens that are used of a larger window: many take a million; long questions cost accordingly, and some
models double their price for them."""
LONGEST_ANSWER = 32_000
"""Tokens of an answer with its thinking, where a model's own limit is not known."""
_OWNED = re.compile(r"(?:gpt-(?!oss)|chatgpt-|claude-|gemini-|o\d|grok-)", re.I)
"""Names of models that run on their company's servers only, so a server of the person's own passes on to them."""


_SEEING = re.compile(
    r"claude-(?!2|instant)|gpt-(?:4o|4\.1|4-turbo|[5-9])|chatgpt-|o[134](?!-mini)|gemini|gemma-?[3-9]|grok-[4-9]|pixtral"
    r"|llava|llama-?4|minicpm-[vo]|internvl|kimi-k(?:2\.5|[3-9])|doubao-(?:seed|1[.-]5-vision)|glm-\d[.\d]*v"
    r"|(?:.*[-_.])?(?:vl|vision|omni)(?:[-_.:\d]|$)|qwen[\d.]*-?vl",
    re.I,
)
"""Names of models that see, by the manuals of their makers; no library that is kept lists it."""


def sees_pictures(name: str) -> bool:
    """True for a model that is known to see, by its name."""
    return _SEEING.match(name.rpartition("/")[2]) is not None


@dataclass(frozen=True, slots=True)
class KnownModel:
    """The limits of a model in tokens (0: not known), and its price. `extra`: fields that its requests need. `is_sold`:
    a company runs it, and not the person."""

    window: int = 0
    max_output: int = 0
    price: ModelPrice | None = None
    extra: Mapping[str, Json] = field(default_factory=dict)
    is_sold: bool = False


NOTHING_KNOWN = KnownModel()


def known_model(name: str, url: str, table: Mapping[str, KnownModel]) -> KnownModel:
    """The facts about the model `name` on the server at `url` (empty: its company's own).

    In the table, a model is the longest name that `name` begins with; a provider's name before a slash does not count
    (`openai/gpt-5` is `gpt-5`). The library's prices are those of companies: a model on the person's own server has
    none, unless nobody else may run it.
    """
    short = name.rpartition("/")[2].lower()
    ours, is_sold = _in_table(short, table), _is_sold(short, url)
    listed = _listed(name, url) if is_sold and not (ours.window and ours.price) else None
    window = min((listed.model.context_window or 0) if listed else 0, USED_WINDOW)
    if not is_sold or ours.window >= HOSTED_WINDOW:  # companies do not sell the small windows of one's own machine
        window = ours.window or window
    return KnownModel(window, ours.max_output, ours.price or listed, ours.extra, is_sold)


def _in_table(short: str, table: Mapping[str, KnownModel]) -> KnownModel:
    fitting = [each for each in table if short.startswith(each) and not _goes_on(short[len(each) :])]
    return table[max(fitting, key=len)] if fitting else NOTHING_KNOWN


def _is_sold(short: str, url: str) -> bool:
    """True if a company sells the answers of a model one by one; those of a program are paid for by the month."""
    return not url.startswith("program:") and (not url or is_public(url) or bool(_OWNED.match(short)))


def parse_models(tree: Json) -> Mapping[str, KnownModel]:
    """The models of the table; raises `TypeError` or `ValueError` for an invalid one."""
    return {name: _parse_model(mapping(value)) for name, value in mapping(tree).items()}


def _parse_model(row: JsonObject) -> KnownModel:
    sums = [row[name] for name in ("input", "output", "cached") if name in row]
    prices = [float(each) for each in sums if isinstance(each, int | float)]
    if len(prices) not in (0, 3):
        raise ValueError("a price needs input, output and cached")
    window, longest = row.get("window", 0), row.get("max_output", 0)
    if not isinstance(window, int) or not isinstance(longest, int):
        raise ValueError("window and max_output are numbers of tokens")
    return KnownModel(window, longest, Price(*prices) if prices else None, dict(mapping(row.get("extra"))))


@cache
def _listed(name: str, url: str) -> ListedPrice | None:
    """The library's entry for a model: of the server's company, else of any that has it under this name."""
    for model, place in ((name, url or None), (name, None), (name.rpartition("/")[2], None)):
        try:
            provider, found = _snapshot().find_provider_model(model, None, None, place)
        except LookupError:
            continue
        return ListedPrice(found, provider)
    return None


@cache
def _snapshot() -> "DataSnapshot":
    from genai_prices.data_snapshot import get_snapshot  # 0.2 s, which only a call of a model needs

    return get_snapshot()


def _goes_on(rest: str) -> bool:
    """True if the next character of a name continues the word: `gpt-5.1` is not `gpt-5`."""
    return bool(rest) and (rest[0].isalnum() or rest[0] == ".")


FILE = "models.json"
"""Its name in the folder of the program's state."""
_LASTS = timedelta(days=7)
"""After this time a hosted server is asked for a window again: models are replaced under the same name."""
_MOST = 64
"""Models that are remembered, the last ones."""


class ModelMemory:
    """The memory in the file at `path`, or of this process only (None)."""

    def __init__(self, path: Path | None, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self._models: dict[str, Mapping[str, Json]] = {}

    def window(self, model: str) -> int:
        """The window of a model in tokens, 0 if none was learned lately."""
        known = self._load().get(model, {})
        is_fresh = self._clock.now() - moment(number(known.get("at"))) < _LASTS
        return number(known.get("window")) if is_fresh else 0

    def learn(self, model: str, window: int) -> None:
        """Remember a window; 0 is ignored."""
        if window:
            self._update(model, {"window": window, "at": int(self._clock.now().timestamp())})

    def tell_once(self, model: str, what: str) -> bool:
        """True if the person was not told this of the model before; now they are."""
        notices = [text(each) for each in items(self._load().get(model, {}).get("told"))]
        if what in notices:
            return False
        self._update(model, {"told": [*notices, what]})
        return True

    def _load(self) -> dict[str, Mapping[str, Json]]:
        with suppress(OSError, ValueError):
            if self._path is not None:
                self._models = {name: mapping(each) for name, each in mapping(parsed(self._path.read_bytes())).items()}
        return self._models

    def _update(self, model: str, facts: Mapping[str, Json]) -> None:
        known = self._load()
        changed = {**known.pop(model, {}), **facts}
        self._models = dict([*known.items(), (model, changed)][-_MOST:])
        with suppress(OSError):
            if self._path is not None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                private.replace(self._path, json.dumps(self._models, indent=1))
