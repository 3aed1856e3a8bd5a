"""What a commit was, in words: the first word of its subject names the kind of change, in a form for programs."""

import re
from types import MappingProxyType

from agent.texts import Language, text

_AREA = re.compile(r"([a-z-]{2,20}(?:\([\w -]{1,40}\))?): (?=\S)")
_QUOTED = re.compile("“(.+)”", re.DOTALL)
_KNOWN = MappingProxyType(
    {
        "approval(approved)": "did_yes",
        "approval(rejected)": "did_no",
        "question(answer)": "did_answer",
        "question(settle)": "did_settle",
        "memory(entry)": "did_remember",
        "memory(facts)": "did_facts",
        "memory(profile)": "did_profile",
        "memory(upkeep)": "did_upkeep",
        "memory(forget)": "did_forget",
        "memory(daily): summary": "did_sum_up",
        "memory(daily)": "did_daily",
        "evening": "did_evening",
        "reflection(day)": "did_reflect_day",
        "reflection": "did_reflect",
        "task(plan)": "did_plan_task",
        "task(cancel)": "did_cancel_task",
        "task": "did_task",
        "question(ask)": "did_ask",
        "question(answered)": "did_settle",
        "approval(ask)": "did_ask_yes",
        "machine": "did_machine",
        "init(vault)": "did_lay_out",
        "human(notes)": "did_edit",
        "human(conflict)": "did_choose",
        "undo(notes)": "did_undo",
        "vault(write)": "did_write",
        "vault(edit)": "did_write",
        "vault(append)": "did_write",
        "vault(move)": "did_move",
        "profile(edit)": "did_edit_profile",
        "notes(edit)": "did_edit_note",
        "notes(tick)": "did_tick",
        "restore": "did_restore",
        "sync": "did_join",
        "sync(ask)": "did_ask_version",
        "sync(over)": "did_settle",
        "sync(answered)": "did_settle",
        "skills(review)": "did_ask_skill",
        "skill-review": "did_settle",
        "skill-offer": "did_settle",
        "arrived-note": "did_settle",
        "arrived-files": "did_settle",
        "remote": "did_settle",
        "job(approved)": "did_settle",
        "job(rejected)": "did_settle",
        "job(outdated)": "did_settle",
        "jobs": "did_note_jobs",
        "jobs(problem)": "did_note_problems",
        "jobs(settle)": "did_settle",
        "import": "did_import",
        "capture": "did_capture",
        "job(add)": "did_add_job",
        "job(create)": "did_add_job",
        "job(edit)": "did_edit_job",
        "job(pause)": "did_pause_job",
        "job(resume)": "did_resume_job",
        "job(delete)": "did_delete_job",
    }
)
"""The areas that have a sentence, some only with the first word behind them or for all that is in brackets; `{name}` in
it is what stands behind the area."""


def commit_words(language: Language, subject: str) -> tuple[str, str]:
    """The area of a subject that has no sentence, and what to say: a sentence in the reader's language, else the rest.

    `undo(notes): the run “Buy tea”` is “Taken back: Buy tea”, and so is `undo(notes): memory(entry): remember Buy tea`.
    """
    found = _AREA.match(subject)
    if found is None:
        return "", subject
    area, rest = found[1], subject[found.end() :].removeprefix("remember ")
    names = (f"{area}: {rest.partition(' ')[0]}", area, area.partition("(")[0])
    key = next((_KNOWN[name] for name in names if name in _KNOWN), None)
    if key is None:
        return area, rest
    quoted = _QUOTED.search(rest)
    if key == "did_undo":
        key = "did_redo" if rest.startswith("undo(") else key
        while (inner := _AREA.match(rest)) and inner[1].endswith(")"):
            rest = rest[inner.end() :].removeprefix("remember ")
    return "", text(f"pages.{key}", language, name=quoted[1] if quoted else rest)
