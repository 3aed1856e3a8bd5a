"""Events as immutable values, and the bus that delivers them. Imports no publisher and no subscriber."""
