"""The tools of a node host: asked for at its address, offered while it is there, and called with a person's yes."""
