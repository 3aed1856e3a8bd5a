"""What the agent remembers, as notes in `entries/`. It composes and reads entries; storing them is the vault's."""
