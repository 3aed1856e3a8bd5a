"""The node host: works on the desktop of this machine for an agent that may be elsewhere, over HTTP on loopback.

`README.md` is its contract, which another program can keep as well. It knows no vault, and decides nothing: whoever has
the token has asked a person before.
"""
