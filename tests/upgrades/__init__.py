"""Vaults and states that earlier versions of the program have left, opened by this one."""
