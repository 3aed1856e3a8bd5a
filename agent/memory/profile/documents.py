"""The profile as documents for JSON, the same for every interface."""

from agent.memory.profile.figures import ProfileFigures
from agent.memory.profile.load import LayerFigures
from agent.memory.profile.profile_file import ProfileFile
from agent.memory.profile.search import ProfileHit
from agent.texts import Language, text


def file_document(file: ProfileFile) -> dict[str, object]:
    """One note for JSON; `filled` counts what it says: fields with a value and all other lines."""
    return {
        "path": file.path,
        "layer": file.layer,
        "title": file.title,
        "summary": file.summary,
        "confidence": file.confidence,
        "filled": file.filled,
        "fields": len(file.fields),
        "empty_fields": file.empty_fields,
        "evidence": [each.written for each in file.evidence],
        "text": file.text,
    }


def figures_document(figures: ProfileFigures, consent: str) -> dict[str, object]:
    """How far the profile is filled, for JSON."""
    return {
        "notes": figures.notes,
        "filled_notes": figures.filled_notes,
        "fields": figures.fields,
        "filled_fields": figures.filled_fields,
        "lines": figures.lines,
        "missing": list(figures.missing),
        "open_questions": list(figures.open_questions),
        "sensitive": consent,
    }


def layer_document(figures: LayerFigures, language: Language) -> dict[str, object]:
    """A layer and how far it is filled."""
    return {
        "layer": figures.layer,
        "name": text(f"profile.layer_{figures.layer}", language),
        "notes": figures.notes,
        "filled_notes": figures.filled_notes,
        "fields": figures.fields,
        "filled_fields": figures.filled_fields,
        "lines": figures.lines,
    }


def profile_hit_document(hit: ProfileHit) -> dict[str, object]:
    """A line that a search has found."""
    return {"path": hit.file.path, "title": hit.file.title, "text": hit.text, "score": hit.score}
