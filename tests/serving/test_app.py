"""The application as a whole: no PyTorch where it is not needed, no fault that tells about the inside."""

import subprocess
import sys

from samekind.serving.settings import ServerSettings

WITHOUT = """
import sys
for name in ("torch", "sklearn", "matplotlib"):
    sys.modules[name] = None  # importing it fails
from samekind.serving.app import create_app
from samekind.serving.settings import ServerSettings
print("imported")
"""


def test_it_is_imported_without_pytorch():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, timeout=60)
    assert (done.stdout.strip(), done.stderr) == ("imported", "")


def test_a_fault_tells_nothing_about_the_inside(plain_client, caplog):
    answer = plain_client().post("/embed", json={"vectors": [[1, 2, 3]]})
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text
    assert "a secret of the inside" in caplog.text  # for who runs the server


def test_what_is_not_there_is_a_sentence(plain_client):
    client = plain_client()
    for method, path, status in (("GET", "/nowhere", 404), ("DELETE", "/info", 405), ("GET", "/docs", 404)):
        answer = client.request(method, path)
        assert answer.status_code == status
        assert answer.json()["error"]


def test_files_of_the_page_are_served_and_nothing_beside_them(plain_client):
    client = plain_client()
    assert "text/html" in client.get("/").headers["content-type"]
    for path in ("/page/../app.py", "/page/..%2Fapp.py", "/page/%2e%2e/app.py", "/page//etc/passwd"):
        answer = client.get(path)
        assert answer.status_code == 404, path


def test_the_engine_is_closed_in_the_end(serve, saved_space):
    client = serve(saved_space)
    assert client.get("/health").json() == {"status": "ok"}
    serve.stop(client)
    again = serve(saved_space)  # the folder of the enrolments is free
    assert again.get("/health").json() == {"status": "ok"}


def test_by_default_only_this_machine_is_answered():
    assert ServerSettings().hosts == {"localhost", "127.0.0.1", "[::1]"}
