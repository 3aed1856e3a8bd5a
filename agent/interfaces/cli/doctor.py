"""`vault-agent doctor`: checks the machine and the vault, one line per check, and prints the next steps."""

from collections.abc import Sequence
from pathlib import Path

import click

from agent.app.diagnostics.diagnose import diagnose
from agent.app.diagnostics.report import write_report
from agent.errors import NotAVault
from agent.interfaces.cli.language import first_lines, listed, tr
from agent.interfaces.cli.output import CheckFailed, Output, exit_codes, fields
from agent.interfaces.cli.printing import as_lines, padded
from agent.vault.health.probe import Check, Level

_SHOWN = 10


@click.command(epilog=exit_codes("something is bad"))
@click.option("--fix", is_flag=True, help="Repair what can be repaired without losing anything.")
@click.option("--model", "ask_model", is_flag=True, help="Ask the model for a word, which may cost something.")
@click.option("--report", type=click.Path(path_type=Path), metavar="FILE", help="Write what helps to find a fault.")
@click.pass_obj
def command(output: Output, fix: bool, ask_model: bool, report: Path | None) -> None:
    """Check the machine (in a scratch vault: write, edit, commit, undo) and the vault, one line per check.

    Outside a vault only the machine is checked. Nothing that a person wrote is changed, with or without --fix.

    With --report, versions, settings (of texts only that they are set), checks without names, and where the program
    failed unexpectedly are written to a new FILE, to be attached to a report: no secret, no name, no word of a note.
    """
    root, checks = _root(output)
    checks += diagnose(root, fix=fix, ask_model=ask_model, announce=lambda each: output.note(_repair(each)))
    if report is not None:
        write_report(report, checks, root)
        output.note(tr("{path} is written; read it before you attach it", path=report))
    emit_checks(output, checks, root)


def emit_checks(output: Output, checks: Sequence[Check], root: Path | None) -> None:
    """Print the checks and what to do next; raises `CheckFailed` if one is bad."""
    bad = any(check.level is Level.BAD for check in checks)
    steps = list(dict.fromkeys(check.next for check in checks if check.next and check.level is not Level.OK))
    document = {
        "vault": str(root) if root else None,
        "ok": not bad,
        "healthy": not bad,
        "checks": [fields(each, "level name what details next") for each in checks],
        "next": steps,
    }
    output.emit(document, lambda: _format(checks, steps))
    if bad:
        raise CheckFailed


def _repair(check: Check) -> str:
    """What is repaired next, with its first details."""
    return as_lines(
        [
            tr("repairing {name}: {what}", name=tr(check.name), what=tr(check.what)),
            *(f"  {tr(each)}" for each in check.details[:_SHOWN]),
        ]
    )


def _root(output: Output) -> tuple[Path | None, list[Check]]:
    try:
        return output.vault(), []
    except NotAVault as error:
        if output.named is not None:
            return None, [Check(Level.BAD, "vault", error.message, next=error.hint)]
        return None, [Check(Level.WARN, "vault", "none here; only the machine is probed", next="vault-agent init PATH")]


def _format(checks: Sequence[Check], steps: Sequence[str]) -> str:
    lines: list[str] = []
    for check in checks:
        named = tr("{title}: {words}", title=tr(check.name), words=tr(check.what))
        lines.append(f"{padded(tr(check.level.value), 4)}  {named}")
        details = check.details if check.level is not Level.OK else ()
        lines += first_lines(map(tr, details), _SHOWN, "        ")
    counts = [(level, sum(1 for check in checks if check.level is level)) for level in Level]
    lines.append("")
    lines.append(listed(f"{count} {tr(level.value)}" for level, count in counts))
    if steps:
        lines += ["", tr("Next:"), *(f"  {tr(step)}" for step in steps)]
    return as_lines(lines)
