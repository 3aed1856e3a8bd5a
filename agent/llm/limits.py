"""The limits of a model that only its server knows: the window, and that it has cut a request without a word.

Servers tell the window in their own ways: llama.cpp at `/props`, Ollama at `/api/ps` and `/api/show`, others in the
list of their models.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from urllib.parse import urlsplit

from agent.clock import Clock
from agent.errors import AgentError
from agent.llm.endpoint import Endpoint
from agent.llm.exchange import HttpReply
from agent.llm.http import Http, Unreached
from agent.llm.messages import Cancelled, Json, JsonObject, items, mapping, number, parsed, text
from agent.texts import Sentence

SECONDS = 3.0
"""The longest time for one question: nothing is lost if it is not answered."""
_WINDOW_NAMES = ("context_length", "max_model_len", "context_window", "max_context_length", "max_input_tokens")
_LOADED = "loaded_context_length"
_NUM_CTX = re.compile(r"^num_ctx\s+(\d+)", re.M)
_OLLAMA_PORT, _LLAMA_CPP_PORT, _LM_STUDIO_PORT = 11434, 8080, 1234
_MOST_PER_TOKEN = (5.2, 2.5)
"""ASCII and other characters of a token at most: a request that is read in fewer tokens than that was cut."""
_USUAL_PER_TOKEN, _ROUND = (4.3, 1.7), 1024
"""Characters of a token mostly: a request that is read in clearly fewer tokens, and in a round number of them, was cut
at a window."""
_REPEATED = re.compile(r"([\s\-=_*#|.])\1+")
"""What a tokenizer joins, however long it is: blanks, and the lines of tables."""
_LEAST_READ = 1_000
"""Tokens; a smaller figure is a mistake of the server, such as the part that was not in its cache."""


def served_window(endpoint: Endpoint, headers: Mapping[str, str], key: str, clock: Clock, cancelled: Cancelled) -> int:
    """The model's window by its server, in tokens; 0 if that does not say it. `headers` have the `key`."""
    asking = _Asking(endpoint, headers, key, clock, cancelled)
    if endpoint.hosted:
        return asking.listed()
    return asking.of_llama_cpp() or asking.of_ollama() or asking.listed()


class _Asking:
    """Questions to one server; an answer that is no JSON, or none, is an empty object."""

    def __init__(
        self, endpoint: Endpoint, headers: Mapping[str, str], key: str, clock: Clock, cancelled: Cancelled
    ) -> None:
        self._model = endpoint.model.name
        self._headers, self._key, self._cancelled = headers, key, cancelled
        root = re.sub(r"/v\d+$", "", endpoint.base_url)
        self._api = Http(replace(endpoint, timeout=SECONDS), clock)
        self._root = Http(replace(endpoint, base_url=root, timeout=SECONDS), clock)
        port = urlsplit(root).port
        self._is_ollama, self._is_lm_studio = port == _OLLAMA_PORT, port == _LM_STUDIO_PORT
        self._is_silent = False

    def of_llama_cpp(self) -> int:
        """The window of the model that llama.cpp has loaded."""
        props = self._get(self._root, "/props")
        return number(mapping(props.get("default_generation_settings")).get("n_ctx")) or number(props.get("n_ctx"))

    def of_ollama(self) -> int:
        """The window that Ollama gives the model: the one in use, else as its parameters or the model say."""
        loaded = self._get(self._root, "/api/ps")
        for row in self._rows(loaded.get("models")):
            if window := number(row.get("context_length")):
                return window
        if not (self._is_ollama or "models" in loaded):
            return 0
        details = self._post(self._root, "/api/show", {"model": self._model})
        num_ctx = _NUM_CTX.search(text(details.get("parameters")))
        of_model = (number(each) for name, each in mapping(details.get("model_info")).items() if _is_length(name))
        return int(num_ctx[1]) if num_ctx else next(filter(None, of_model), 0)

    def listed(self) -> int:
        """The window in the server's list of models; LM Studio tells that of the loaded model in a list of its own."""
        listed = self._get(self._api, "/models")
        rows = [*self._rows(listed.get("data") or listed.get("models"))]
        if self._is_lm_studio:
            rows = [*self._rows(self._get(self._root, "/api/v0/models").get("data")), *rows]
        of_row = (number(row.get(name)) for row in rows for name in (_LOADED, *_WINDOW_NAMES))
        of_llama = (number(mapping(row.get("meta")).get("n_ctx")) for row in rows)
        return next(filter(None, (*of_row, *of_llama)), 0)

    def _rows(self, listed: Json) -> Iterator[JsonObject]:
        """The rows of a list of models that mean this one."""
        for row in map(mapping, items(listed)):
            names = {text(row.get(key)) for key in ("id", "name", "model")}
            if self._model in names or f"{self._model}:latest" in names:
                yield row

    def _get(self, http: Http, path: str) -> JsonObject:
        return self._asked(lambda: http.get(path, self._headers, self._key, self._cancelled))

    def _post(self, http: Http, path: str, body: JsonObject) -> JsonObject:
        data = json.dumps(body).encode()
        return self._asked(lambda: http.post(path, self._headers, data, self._key, self._cancelled))

    def _asked(self, send: Callable[[], AbstractContextManager[HttpReply]]) -> JsonObject:
        if self._is_silent:
            return {}
        try:
            with send() as answer:
                return mapping(parsed(answer.body())) if answer.status == 200 else {}
        except (AgentError, Unreached):
            self._is_silent = True  # nobody there: the call itself will say so
            return {}
        except ValueError:
            return {}


def is_cut(texts: Iterable[str], read: int) -> bool:
    """True if a server that reports `read` tokens of input cannot have read the whole of these texts."""
    plain = others = 0
    for each in texts:
        ascii_only = sum(map(str.isascii, short := _REPEATED.sub(r"\1", each)))
        plain, others = plain + ascii_only, others + len(short) - ascii_only
    least, usual = (plain / per[0] + others / per[1] for per in (_MOST_PER_TOKEN, _USUAL_PER_TOKEN))
    is_round = read % _ROUND == 0 and read < 0.85 * usual
    return read >= _LEAST_READ and (read < least or is_round)


def cut_remark(endpoint: Endpoint, read: int, sent: int) -> Sentence:
    """The remark on a request of about `sent` tokens of which the server has read only `read`."""
    wanted = max(1 << (2 * sent - 1).bit_length(), 16_384)
    more = {
        "ollama": "stop Ollama, then: OLLAMA_CONTEXT_LENGTH={wanted} ollama serve",
        "llamacpp": "start it with: llama-server -c {wanted}",
        "lmstudio": "lms load {model} --context-length {wanted}",
    }.get(_program(endpoint), "give the model a larger context window in the settings of its server")
    return Sentence(
        "the answer may be wrong: {place} cut the request to {read:,} tokens, of about {sent:,}; {more}",
        place=endpoint.place,
        read=read,
        sent=sent,
        more=Sentence(more, wanted=wanted, model=endpoint.model.name),
    )


def _program(endpoint: Endpoint) -> str:
    """The program of a server on this machine, by the port that it usually has, or the form of its models' names."""
    by_port = {_OLLAMA_PORT: "ollama", _LLAMA_CPP_PORT: "llamacpp", _LM_STUDIO_PORT: "lmstudio"}
    named = "ollama" if re.fullmatch(r"[\w./-]+:[\w.-]+", endpoint.model.name) else ""
    return by_port.get(urlsplit(endpoint.base_url).port or 0, named)


def _is_length(name: str) -> bool:
    return name.endswith(".context_length")
