"""The understanding of messages in a vault: by rules, or by the fast model if the settings let memory ask it."""

from agent.context.prompt import fill
from agent.llm.messages import Request, User
from agent.memory.understanding.model import ModelUnderstanding
from agent.memory.understanding.rules import RULES
from agent.memory.understanding.seam import Understanding
from agent.runs.accounts import Accounts
from agent.workspace.workspace import Workspace

_ANSWER_TOKENS = 1_500


def understanding_of(workspace: Workspace, models: Accounts, job: str = "") -> Understanding:
    """The understanding for this vault, on the account of a job (empty: of none); rules if there is no fast model or
    `memory.llm_summary` is off."""
    if not models.models.fast.model.present or not workspace.settings.memory.llm_summary:
        return RULES

    def ask(prompt: str, questions: str) -> str:
        filled = fill(prompt, workspace.vault.own_version_of, questions=questions)
        model = models.of_run(f"understanding-{workspace.clock.new_id()}", job).fast
        return model.chat(Request((User(filled),), max_output=_ANSWER_TOKENS)).message.text

    return ModelUnderstanding(ask)
