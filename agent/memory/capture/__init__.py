"""From what a run or a person says to entries in the vault: composing, telling new from known, writing."""
