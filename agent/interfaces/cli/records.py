"""`vault-agent records`: what this machine remembers about the vault, table by table."""

import click

from agent.interfaces.cli.declare import in_vault
from agent.interfaces.cli.output import Output
from agent.json_value import parse_json
from agent.workspace.workspace import Workspace


@click.command()
@in_vault
def command(output: Output, workspace: Workspace) -> None:
    """Show all that this machine remembers about the vault, outside its notes."""
    tables: dict[str, dict[str, object]] = {}
    lines: list[str] = []
    for name, key, value in workspace.vault.records.rows("SELECT name, key, value FROM record ORDER BY name, key"):
        text = workspace.vault.masked(str(value))
        try:
            tables.setdefault(str(name), {})[str(key)] = parse_json(text)
        except ValueError:
            tables.setdefault(str(name), {})[str(key)] = text
        lines.append(f"{name} {key}: {text}")
    output.emit({"tables": tables}, "\n".join(lines))
