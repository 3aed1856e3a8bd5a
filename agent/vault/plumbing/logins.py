"""Takes logins and tokens out of the addresses in a text, before it is compared, shown or written down."""

import re

_LOGIN = re.compile(r"(?<=://)[^/@\s]*@")


def without_login(text: str) -> str:
    """The text without the logins and tokens that stand in addresses."""
    return _LOGIN.sub("", text)
