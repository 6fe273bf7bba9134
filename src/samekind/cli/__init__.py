"""The command line: one file per command.

A command parses its options, asks one question (`samekind.questions`) and prints the answer: as tables for
people or, with ``--json``, for programs. Progress, warnings and errors go to the standard error. Importing
this room loads no PyTorch; a command imports what it needs when it runs.

Exit status: 0 done, 1 `check` found what training would refuse, 2 a mistake that the message explains,
130 interrupted.
"""

import sys

try:
    from samekind.cli.main import main
except KeyboardInterrupt:
    # While the program is loading, it cannot handle an interrupt itself yet.
    print("samekind: interrupted before anything was started", file=sys.stderr)
    sys.exit(130)

__all__ = ["main"]
