"""A program that behaves as `claude`, `codex` or `gemini` in its mode for scripts; run as a script, never imported.

It notes how it was started, then says what the file `script.json` beside it has for it, line by line. The forms are
those of Claude Code 2.1.197, Codex 0.171.0 and Gemini CLI 0.61.0.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

HERE = Path(sys.argv[0]).parent
FEATURES = """shell_tool   stable   true
unified_exec  stable  true
memories  stable  false
steer  removed  true
something_new  under development  true
"""


def main() -> int:
    script = json.loads((HERE / "script.json").read_text())
    if sys.argv[1:] == ["features", "list"]:
        sys.stdout.write(FEATURES if script.get("has_features", True) else "unknown command\n")
        return 0
    if sys.argv[1:] in (["--version"], ["auth", "status"], ["login", "status"]):
        sys.stderr.write("" if script.get("is_signed_in", True) else "Not logged in\n")
        return int(not script.get("is_signed_in", True))
    started = {
        "arguments": sys.argv[1:],
        "environ": dict(os.environ),
        "here": sorted(each.name for each in Path().iterdir()),
        "folder": str(Path.cwd()),
        "said": sys.stdin.read(),
        "instructions": Path("../instructions.md").read_text(),
        "gemini": _settings(),
        "nearest": next((str(each) for each in Path.cwd().parents if (each / ".env").exists()), ""),
    }
    with (HERE / "started.jsonl").open("a") as file:
        file.write(json.dumps(started) + "\n")
    if script.get("leaves"):
        command = ["/bin/sh", "-c", f"/bin/sleep 10; : > {HERE}/over"]
        left = subprocess.Popen(command, start_new_session=True)
        (HERE / "left.txt").write_text(str(left.pid))
    for event in script["events"]:
        if event == "silence":
            signal.pause()
        sys.stdout.write((event if isinstance(event, str) else json.dumps(event)) + "\n")
        sys.stdout.flush()
    sys.stderr.write(script.get("errors", ""))
    return int(script.get("code", 0))


def _settings() -> object:
    home = os.environ.get("GEMINI_CLI_HOME")
    return json.loads((Path(home) / ".gemini/settings.json").read_text()) if home else None


sys.exit(main())
