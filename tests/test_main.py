"""The package as a program."""

import subprocess
import sys

import samekind


def test_the_package_is_the_program():
    asked = [sys.executable, "-m", "samekind", "--version"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"samekind {samekind.__version__}\n", "")
