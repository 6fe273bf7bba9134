"""The command line: one file per command.

Importing this room loads no PyTorch; a command imports what it needs when it runs. A table for people goes
to the standard output, ``--json`` gives programs the same; progress and errors go to the standard error.
Exit status: 0 done, 1 `check` found what would stop a training run, 2 a mistake that the message explains,
130 interrupted.
"""

import sys

try:
    from samekind.cli.main import main
except KeyboardInterrupt:
    # Loading takes a moment, in which a program cannot answer for itself yet.
    print("samekind: interrupted before anything was begun", file=sys.stderr)
    sys.exit(130)

__all__ = ["main"]
