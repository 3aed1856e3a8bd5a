"""How much is reported while working: the setting `log.level`, obeyed by every module's logger.

What is reported goes to standard error; results are not messages and are printed by who computed them.
"""


def report_from(level: str) -> None:
    """Show messages of `level` (`debug`, `info`, `warning`, `error`) and above on standard error, one line each."""
    import logging  # 8 ms that `--help` need not pay

    logger = logging.getLogger("agent")
    logger.setLevel(level.upper())
    logger.propagate = False
    if not logger.handlers:
        stream = logging.StreamHandler()
        stream.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
        logger.addHandler(stream)
