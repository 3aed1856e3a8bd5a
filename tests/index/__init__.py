"""Search: what is found, what is said about it, and that updates equal a rebuild."""
