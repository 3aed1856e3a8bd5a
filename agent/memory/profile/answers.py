"""Carries out what the person has ticked in the questions about their profile."""

from agent.markdown.note import Note
from agent.memory.profile.changes import ProfileChange, Proposed, Writing, propose_changes
from agent.memory.profile.questions import decided
from agent.texts import text
from agent.vault.change import Edit, Request


def settle_profile_questions(writing: Writing) -> Proposed:
    """What comes of the questions that the person has answered: their line stays, the newer one takes its place, or
    both stand. Each note is marked as answered in the same commit."""
    requests, made = list[Request](), list[ProfileChange]()
    for each in decided(writing.vault):
        if each.choice != "old":
            conflict = each.conflict
            change = ProfileChange(
                conflict.note, conflict.new, conflict.evidence, conflict.field, replaces=conflict.old
            )
            proposed = propose_changes(writing, (change,), each.choice)
            if {one.path for one in proposed.requests} & {one.path for one in requests}:
                continue  # another answer changes the same notes: this one is carried out at the next change
            requests += proposed.requests
            made += proposed.made
        note = Note.parse(each.data)
        body = f"{note.body.rstrip()}\n\n→ {text('profile.settled', writing.language, day=f'{writing.now:%Y-%m-%d}')}\n"
        requests.append(Edit(each.path, each.data, note.with_body(body).with_key("status", "answered").data))
    return Proposed(tuple(requests), tuple(made))
