"""What differs between the systems that the program runs on, in one place: `posix.py` has what each of them can do, and
the most careful answer where only some can; `linux.py` and `macos.py` have what one of them does in another way.
Everything else asks `here.platform()`, and knows no system.

Linux that runs below Windows (WSL) is Linux: where a disk of Windows can do less, a call says so, as on any file
system. It must not ask for settings, and import nothing of the program."""
