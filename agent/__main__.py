"""`python -m agent` is `vault-agent`."""

from agent.interfaces.cli.entry import run

if __name__ == "__main__":
    run()
