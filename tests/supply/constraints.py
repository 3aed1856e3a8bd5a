"""Writes `constraints.txt` anew, with the newest packages that fit: `python -m tests.supply.constraints`, with uv.

One list for each supported Python and system: where two need two versions of a package, each line says for which it
holds. `tests.supply.pythons` tries it.
"""

import subprocess
from importlib.metadata import distribution
from pathlib import Path

from tests.supply.licences import NOT_FOR_PEOPLE, PROGRAM

ROOT = Path(__file__).parents[2]
CONSTRAINTS = ROOT / "configs/packaging/constraints.txt"
OLDEST = "3.11"
_HEAD = """\
# The packages with which this version was tested, for an install that is the same tomorrow:
#   pip install --constraint constraints.txt vault-agent
# Written by: python -m tests.supply.constraints
"""

if __name__ == "__main__":
    extras = sorted({*(distribution(PROGRAM).metadata.get_all("Provides-Extra") or ())} - NOT_FOR_PEOPLE)
    command = ["uv", "pip", "compile", "pyproject.toml", "--universal", "--python-version", OLDEST, "--upgrade"]
    command += ["--quiet", "--no-header", "--no-annotate", *(f"--extra={each}" for each in extras)]
    found = subprocess.run(command, cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE).stdout
    CONSTRAINTS.write_text(_HEAD + found, "utf-8")
