"""Words that a note with the answer to a question may have, from the fast model: people ask in other words than they
told. One short call for a question, and none for one that was asked before. Only search sees the answer."""

import logging
import re
import threading
from collections import OrderedDict
from dataclasses import field

from agent.context.prompt import fill
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.llm.messages import Request, User
from agent.runs.accounts import Accounts
from agent.workspace.workspace import Workspace

_ANSWER_TOKENS = 100
_MOST, _QUESTIONS = 16, 256
_LONGEST = 2_000
"""The most characters of a question that are sent: a longer one is a pasted text, and says enough itself."""
_WORD = re.compile(r"[^\W_][\w'’-]{0,39}")

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class QuestionWords:
    """The words for questions to one vault; those of the last questions are remembered. Thread-safe."""

    workspace: Workspace
    accounts: Accounts
    _known: OrderedDict[str, str] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def words(self, question: str, job: str = "", spend: float | None = None, /) -> str:
        """The words, separated by blanks. Empty if no note can help, if the settings do not want the model asked, or if
        it cannot be. `job` pays for it, if there is one, within its `spend` dollars a day."""
        is_wanted = self.workspace.settings.memory.ask_for_words and self.accounts.models.fast.model.present
        if not is_wanted or len(question) > _LONGEST:
            return ""
        with self._lock:
            known = self._known.get(question)
        if known is not None:
            return known
        try:
            found = parse_words(self._ask(question, job, spend))
        except (AgentError, OSError) as error:
            logger.warning("memory is searched by the question's own words: %s", error)
            return ""
        with self._lock:
            self._known[question] = found
            while len(self._known) > _QUESTIONS:
                self._known.popitem(last=False)
        return found

    def _ask(self, question: str, job: str, spend: float | None) -> str:
        prompt = fill("question", self.workspace.vault.own_version_of, question=question)
        model = self.accounts.of_run(f"question-{self.workspace.clock.new_id()}", job, spend).fast
        return model.chat(Request((User(prompt),), max_output=_ANSWER_TOKENS)).message.text


def parse_words(reply: str) -> str:
    """The words in the first line of a model's answer; empty for NONE."""
    words = _WORD.findall(reply.strip().partition("\n")[0])
    return "" if "NONE" in words else " ".join(dict.fromkeys(words[:_MOST]))
