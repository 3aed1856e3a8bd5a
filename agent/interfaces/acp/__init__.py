"""The door for editors: the Agent Client Protocol over standard input and output.

A view of the same runs, approvals and sessions as the other doors have; it decides nothing.
"""
