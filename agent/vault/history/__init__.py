"""What happened, and taking it back. It reads history, and writes only through a transaction."""
