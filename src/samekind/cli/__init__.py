"""The command line: one file per command.

Importing this room loads no PyTorch; a command imports what it needs when it runs. A table for people goes
to the standard output, ``--json`` gives programs the same; progress and errors go to the standard error.
Exit status: 0 done, 2 a mistake that the message explains, 130 interrupted.
"""

from samekind.cli.main import main

__all__ = ["main"]
