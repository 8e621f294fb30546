"""
Runs the operations of one version of a client, side by side, and prints one line of JSON for each. The variables are those of
harness.ts; the declarations of a client are its own source.
"""

import json
import os
import pathlib
import re
import threading
import time
import traceback
import urllib.request
import uuid
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PATIENCE_SECONDS = 120
URL = os.environ["CONFORMANCE_URL"]
TOKEN = os.environ["CONFORMANCE_TOKEN"]

operations = {}
inboxes = {}
arrived = threading.Condition()


def operation(name):
    """
    Registers a function as the operation of this name. Each word of it is a name of the client, if it offers the operation; what
    follows a semicolon only explains.
    """

    def register(function):
        operations[name] = function
        return function

    return register


def unique(name):
    return f"{name}-{uuid.uuid4().hex[:8]}"


def eventually(read):
    """Reads until there is something to return."""
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        value = read()
        if value:
            return value
        assert time.monotonic() < until, "It did not hold in time."
        time.sleep(0.1)


def service(path):
    """Reads from the service without the client: an old one does not declare all that is there."""
    request = urllib.request.Request(f"{URL}{path}", headers={"Authorization": f"Bearer {TOKEN}"})
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def fails(call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except Exception:
        return
    raise AssertionError("It did not fail.")


class Inbox:
    """A path of the receiver, what came to it, and what answers it: a function of a request that returns a status and a body."""

    def __init__(self, answer=lambda method, headers, body: (200, b"", {})):
        name = uuid.uuid4().hex
        self.url = f"{origin}/{name}"
        self.answer = answer
        self.deliveries = []
        inboxes[f"/{name}"] = self

    def received(self, count=1):
        with arrived:
            came = arrived.wait_for(lambda: len(self.deliveries) >= count, PATIENCE_SECONDS)
        assert came, f"{len(self.deliveries)} of {count} deliveries came."
        return self.deliveries


class Deliveries(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def deliver(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        inbox = inboxes["/" + self.path.split("/")[-1]]
        status, answer, headers = inbox.answer(self.command, self.headers, body)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
        with arrived:
            inbox.deliveries.append((self.command, self.headers, body))
            arrived.notify_all()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = deliver

    def log_message(self, *_):
        pass


receiver = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("CONFORMANCE_RECEIVER_PORT", 0))), Deliveries)
origin = os.environ.get("CONFORMANCE_RECEIVER", f"http://127.0.0.1:{receiver.server_port}")
threading.Thread(target=receiver.serve_forever, daemon=True).start()


def run(package):
    """Runs all operations of an imported client."""
    sources = pathlib.Path(package.__file__).parent.rglob("*.py")
    declared = set(re.findall(r"\w+", "\n".join(source.read_text("utf-8") for source in sources)))

    def result_of(name):
        missing = [word for word in re.findall(r"\w+", name.split("; ")[0]) if word not in declared]
        if missing:
            return {"operation": name, "outcome": "not offered", "reason": missing[0]}
        try:
            operations[name]()
            return {"operation": name, "outcome": "passed"}
        except Exception:
            return {"operation": name, "outcome": "failed", "reason": traceback.format_exc()}

    with ThreadPoolExecutor(len(operations)) as pool:
        for result in pool.map(result_of, operations):
            print(json.dumps(result, separators=(",", ":")), flush=True)
