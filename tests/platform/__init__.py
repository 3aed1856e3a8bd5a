"""What differs between systems, on this one and on made ones."""
