"""A forked process leaves its parent's connections alone, and makes its own."""

import subprocess
import sys

import pytest

pytest.importorskip("psycopg", reason="needs psycopg")
pytest.importorskip("pymilvus", reason="needs pymilvus")

# Forks with connections of all three kinds of holder open, and says what each side has of them. Nothing that
# the child says may come out at the other end of the parent's socket.
FORKED = """
import os, socket, sys, threading, time
from samekind.index import milvus_connection, postgres_connection
from samekind.index.forking import leave_when_forked

class Line:
    '''What psycopg gives, as far as it is used: to close it says goodbye to the server.'''
    closed = False
    def __init__(self, socket):
        self.socket = socket
    def fileno(self):
        return self.socket.fileno()
    def close(self):
        try:
            os.write(self.fileno(), b"X")
        finally:
            self.closed = True

class Holder:
    left = False
    def leave_to_parent(self):
        self.left = True

class Client:
    def close(self):
        print("closed by", "child" if os.getpid() != parent else "parent", flush=True)

def told(who):
    print(who, holder.left, postgres._held is None, milvus._client is None, flush=True)

parent = os.getpid()
ours, servers = socket.socketpair()
servers.settimeout(0.2)
holder, gone, idle = Holder(), Holder(), postgres_connection.Connection("postgresql://localhost/faces")
for connection in (holder, gone):
    leave_when_forked(connection)
del gone, connection
postgres = postgres_connection.Connection("postgresql://localhost/faces")
milvus = milvus_connection.Connection("http://localhost:19530", collection="x", timeout=1)
postgres._held, milvus._client = Line(ours), Client()
taken, released = threading.Event(), threading.Event()

def hold():
    with postgres._lock:
        taken.set()
        released.wait()

threading.Thread(target=hold, daemon=True).start()
taken.wait()
child = os.fork()
if not child:
    told("child")
    postgres.close()  # a thread of the parent has its lock, and is not here to give it back
    milvus.close()
    del postgres, milvus
    os._exit(0)
os.waitpid(child, 0)
released.set()
told("parent")
try:
    print("heard", servers.recv(10))
except TimeoutError:
    print("heard nothing")
ours.sendall(b"still there")
print(servers.recv(100).decode())
postgres.close()
milvus.close()
print(servers.recv(100).decode())
"""


def test_a_forked_process_leaves_the_connections_to_its_parent():
    """A regression: closing the connection in one of the two ended the session of the other."""
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "child True True True",
        "parent False False False",
        "heard nothing",
        "still there",
        "closed by parent",
        "X",
    ]
