"""A command whose module needs a library that is not there."""

from importlib import import_module

command = import_module("no_such_library")
