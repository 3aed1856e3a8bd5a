"""`vault-agent channels`: the ways by which messages reach the person, and what came in by them and cannot be read."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import click

from agent.app.channels import KINDS, ChannelKind, channel_kind, is_set, open_channel
from agent.app.notice_ledger import open_ledger
from agent.app.open import open_workspace
from agent.attention.channels.channel import Message
from agent.attention.set_aside import SetAside, SetAsideItem
from agent.clock import SystemClock
from agent.config.directories import directories
from agent.config.edit import check_value, set_machine
from agent.config.load import load_vault_settings
from agent.config.program_parts import command_to_add
from agent.config.secrets import Secret, save_key
from agent.config.settings import RENAMED, Settings, setting_type
from agent.errors import AgentError, ConfigError, UserError
from agent.interfaces.cli.declare import group, in_vault
from agent.interfaces.cli.language import counted, listed, tr
from agent.interfaces.cli.output import Output, fields
from agent.interfaces.cli.printing import beside
from agent.interfaces.cli.prompt import hidden, keyboard
from agent.interfaces.cli.screen import is_terminal
from agent.interfaces.cli.time_format import format_time
from agent.llm.messages import never
from agent.texts import Sentence, joined, text
from agent.vault.layout import SET_ASIDE
from agent.workspace.workspace import Workspace

_OWNER_SECONDS = 300.0
"""The longest wait for the person's message that shows who they are."""
_SHOWN = 4_000
"""The most characters of what cannot be read that are shown."""
_CODE = 8
"""The characters of the code in it, which nobody else there can know."""


@group("list")
def command() -> None:
    """The ways by which messages reach you, and those by which you can write back.

    The daily note is always one of them. All others are set up for this machine only.
    """


@command.command("list", short_help="List the channels, and what each still needs.")
@click.pass_obj
def list_all(output: Output) -> None:
    """List the channels, what each still needs, and when each has delivered a notice last."""
    vault = output.vault_if_any()
    settings, last = load_vault_settings(vault).settings, _last_deliveries(vault)
    output.emit({"channels": [_document(kind, settings, last) for kind in KINDS]}, lambda: _table(settings, last))


@command.command("add", short_help="Set a channel up for this machine.")
@click.argument("name")
@click.argument("settings", nargs=-1, metavar="[KEY=VALUE]…")
@click.pass_obj
def add(output: Output, name: str, settings: tuple[str, ...]) -> None:
    """Set a channel up for this machine and switch it on.

    Settings are given as in host=smtp.example.org; on a terminal you are asked for what is missing. A secret is given
    as a reference (env:NAME, file:PATH, keyring:NAME), or typed when it is asked for: then it goes into a file that
    only you can read.
    """
    kind = channel_kind(name)
    values = _parse_settings(kind, settings)
    present = load_vault_settings().settings
    if is_terminal():
        values |= _ask_settings(kind, present, _renamed(values))
    is_asked = kind.finds_owner and is_terminal()  # the owner writes there, once the rest is set
    known = {*_renamed(values), *([kind.key("owner")] if is_asked else [])}
    missing = [key for key in kind.missing(present) if key not in known]
    if missing:
        example = f"{missing[0].rpartition('.')[2]}=…"
        raise UserError(
            "{name} needs {missing}",
            hint="vault-agent channels add {name} {example}",
            name=name,
            missing=joined(missing, ", "),
            example=example,
        )
    for key, value in values.items():
        check_value(key, value)
    for key, value in values.items():
        path = set_machine(key, value)
        output.note(tr("{key} is set in {path}", key=key, path=path))
    if not kind.is_on(present):
        set_machine(f"channels.{name}.on", "true")
    owner = _find_owner(output, kind) if is_asked else ""
    output.emit(
        {"channel": name, "set": sorted(_renamed(values)), "owner": owner},
        tr("{name} is on. vault-agent channels test {name} sends a message", name=name),
    )


@command.command("test", short_help="Send a message through a channel now.")
@click.argument("name")
@click.pass_obj
def test(output: Output, name: str) -> None:
    """Send a message through a channel now, whatever the hour, and show the proof that it was delivered.

    Where messages come in from a mailbox, it is looked at, too.
    """
    kind = channel_kind(name)
    workspace = open_workspace(output.vault())
    missing = kind.missing(workspace.settings)
    if missing:
        raise ConfigError(
            "{name} is not configured: {missing} has no value",
            hint="vault-agent channels add {name}",
            name=name,
            missing=missing[0],
        )
    language = workspace.settings.vault.language
    message = Message(
        workspace.clock.new_id(), text("channels.test", language), text("channels.test_more", language, name=name)
    )
    proof = open_channel(kind, workspace).send(message, never)
    reads = _checked(output, kind, workspace, proof)
    advice = kind.advice(workspace.settings)
    off = (
        ""
        if kind.is_on(workspace.settings)
        else tr("It is switched off: vault-agent config set {key} true", key=f"channels.{name}.on")
    )
    output.emit(
        {"channel": name, "id": message.id, "proof": proof, "on": kind.is_on(workspace.settings), "reads": reads},
        tr("{name} has delivered it: {proof}", name=name, proof=proof),
    )
    if reads:
        output.note(tr("{name} can be read", name=name))
    if advice is not None:
        output.note(tr(advice))
    if off:
        output.note(off)


def _checked(output: Output, kind: ChannelKind, workspace: Workspace, proof: str) -> bool:
    """True if messages come in from a mailbox; raises what is wrong with it, after a word that sending works."""
    try:
        return kind.check is not None and bool(kind.check(workspace))
    except AgentError:
        output.note(tr("{name} has delivered it: {proof}", name=kind.name, proof=proof))
        raise


def _parse_settings(kind: ChannelKind, settings: Sequence[str]) -> dict[str, str]:
    """The settings of the command line by key, as it was written there; raises `UserError`."""
    values: dict[str, str] = {}
    for each in settings:
        field, sign, value = each.partition("=")
        key = f"channels.{kind.name}.{field.removeprefix(f'channels.{kind.name}.')}"
        known = {kind.key(one) for one in (*kind.needs, *kind.may)}
        if not sign or RENAMED.get(key, key) not in known:
            names = joined((*kind.needs, *kind.may), ", ")
            raise UserError(
                "{name} has no setting {field}" if sign else "{field} has no value",
                hint="its settings: {names}; as in {example}",
                name=kind.name,
                field=field,
                names=names,
                example=f"{(*kind.needs, *kind.may, 'on')[0]}=…",
            )
        values[key] = value
    return values


def _renamed(values: Iterable[str]) -> frozenset[str]:
    """The keys as the settings have them."""
    return frozenset(RENAMED.get(key, key) for key in values)


def _ask_settings(kind: ChannelKind, settings: Settings, named: frozenset[str]) -> dict[str, str]:
    """What the person types for the settings that are neither given nor set."""
    values: dict[str, str] = {}
    for field, question in kind.asks.items():
        key = kind.key(field)
        if key in named or is_set(settings, key):
            continue
        secret = setting_type(key).base is Secret
        typed = _typed(tr(question), secret)
        if typed and secret and Secret(typed).is_literal:
            typed = f"file:{save_key(directories().keys, key, typed)}"
        if typed:
            values[key] = typed
    return values


def _typed(question: str, secret: bool) -> str:
    """What the person types, empty at the end of input."""
    try:
        typed = hidden(tr("{question} (not shown)", question=question)) if secret else keyboard(f"{question}: ")
    except EOFError:
        return ""
    return typed.strip()


def _find_owner(output: Output, kind: ChannelKind) -> str:
    """The owner's id after they have written something there; empty if it is set. Raises `UserError` if they do not,
    and what the channel raises."""
    key = kind.key("owner")
    if is_set(load_vault_settings().settings, key):
        return ""
    workspace = open_workspace(output.vault())
    until = workspace.clock.monotonic() + _OWNER_SECONDS
    code = workspace.clock.new_id()[-_CODE:]
    output.note(tr("Now write this to it there, from your own account: {code}", code=code))
    owner = kind.find_owner(workspace, code, lambda: workspace.clock.monotonic() > until)
    if not owner:
        raise UserError(
            "nobody has written {code} to it",
            hint="vault-agent channels add {name} waits again; what was set stays",
            code=code,
            name=kind.name,
        )
    set_machine(key, owner)
    output.note(tr("your id there: {owner}", owner=owner))
    return owner


def _last_deliveries(vault: Path | None) -> dict[str, datetime]:
    """When a notice of this vault was delivered last, by the name of the channel; empty without a vault or a ledger."""
    if vault is None:
        return {}
    try:
        receipts = open_ledger(open_workspace(vault)).all()
    except AgentError:
        return {}
    found = ((each.delivered_at, each.channel) for each in receipts if each.delivered_at is not None)
    return {channel: at for at, channel in sorted(found)}


def _document(kind: ChannelKind, settings: Settings, last: Mapping[str, datetime]) -> dict[str, object]:
    missing, receives = kind.missing(settings), kind.receive is not None and not kind.extra
    state = {"configured": not missing, "on": kind.is_on(settings) and not missing, "missing": missing}
    advice = _advice(kind, settings) or ""
    return fields(kind, "name", about=kind.says, **state, advice=advice, receives=receives, last=last.get(kind.name))


def _table(settings: Settings, last: Mapping[str, datetime]) -> str:
    width, now = max(len(kind.name) for kind in KINDS), SystemClock().now()
    rows = []
    for kind in KINDS:
        parts = [_state(kind, settings), tr(kind.says)]
        if kind.extra:
            parts.append(tr("what you write there needs: {command}", command=command_to_add(kind.extra)))
        if kind.name in last:
            parts.append(tr("last delivered {when}", when=format_time(last[kind.name], now)))
        rows += beside(f"{kind.name:<{width}}  ", "  ".join(parts))
        if (advice := _advice(kind, settings)) is not None:
            rows.append(f"{'':<{width}}  {tr(advice)}")
    return "\n".join(rows)


def _advice(kind: ChannelKind, settings: Settings) -> Sentence | None:
    return kind.advice(settings) if kind.is_used(settings) else None


def _state(kind: ChannelKind, settings: Settings) -> str:
    missing = kind.missing(settings)
    if missing:
        return tr("needs {missing}", missing=listed(each.rpartition(".")[2] for each in missing))
    return tr("on") if kind.is_on(settings) else tr("off")


@command.command("unread", short_help="What came in and cannot be read.")
@click.argument("id", required=False, default="")
@click.option("--again", is_flag=True, help="Have it tried again by the daemon, as after an update.")
@click.option("--drop", is_flag=True, help="Delete what is kept of it.")
@in_vault
def unread(output: Output, workspace: Workspace, id: str, again: bool, drop: bool) -> None:
    """List what came in through channels and could not be read, or show the one with this ID as it came.

    Each is named once and kept here, and the messages after it are read. In your mailbox nothing is changed.
    """
    store, now = SetAside(workspace.vault.private_folder / SET_ASIDE), workspace.clock.now()
    if not id:
        if again or drop:
            raise UserError("which one?", hint="vault-agent channels unread ID, as in its list")
        items = store.all()
        output.emit(
            {"unread": [_unread_document(each) for each in items]},
            lambda: (
                "\n".join(_unread_row(each, format_time(each.at, now)) for each in items) or tr("nothing was set aside")
            ),
        )
        return
    item = store.find(id)
    if again:
        store.ask_again(item)
        output.emit(_unread_document(item), tr("the daemon tries {id} again at its next look", id=item.id))
    elif drop:
        store.remove(item)
        output.emit(_unread_document(item), tr("{id} is deleted here", id=item.id))
    else:
        beginning = store.data(item)[:_SHOWN].decode("utf-8", "replace")
        output.emit(
            {**_unread_document(item), "text": beginning},
            "\n".join((_unread_row(item, format_time(item.at, now)), beginning)),
        )


def _unread_row(item: SetAsideItem, when: str) -> str:
    size = counted(item.length, "1 byte", "{count:,} bytes")
    return f"{item.id}  {item.channel}  {when}  {size}  {item.why}"


def _unread_document(item: SetAsideItem) -> dict[str, object]:
    return fields(item, "id channel at why", bytes=item.length)
