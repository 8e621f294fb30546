"""The operations of `upstash-workflow` on PyPI. A case calls only what its name has, so that it runs in every version."""

import json
import threading
import time
import urllib.error
import urllib.request

import upstash_workflow
from operations import PATIENCE_SECONDS, TOKEN, URL, Inbox, operation, run
from qstash import QStash, Receiver

client = QStash(TOKEN, base_url=URL)
keys = client.signing_key.get()


class Request:
    """What `serve` reads of a request."""

    def __init__(self, url, method, headers, body):
        self.url, self.method, self.headers, self.body, self.query = url, method, headers, body.decode(), {}


def serve(route, **settings):
    """Serves a workflow at a path of the receiver."""

    def answer(method, headers, body):
        response = handler(Request(inbox.url, method, headers, body))
        return response.status, response.body.encode(), response.headers

    inbox = Inbox(answer)
    handler = upstash_workflow.serve(
        route, qstash_client=client, url=inbox.url, env={}, retries=0, **settings
    )["handler"]
    return inbox.url


def start(url):
    with urllib.request.urlopen(urllib.request.Request(url, data=b'{"n":1}', method="POST")) as response:
        json.load(response)


def ran(route):
    """Runs a workflow; what it gives."""
    values = []
    ended = threading.Event()

    def to_end(context):
        value = route(context)

        def done():
            values.append(value)
            ended.set()

        context.run("done", done)

    start(serve(to_end))
    assert ended.wait(PATIENCE_SECONDS), "The run did not end."
    return values[0]


@operation("serve, run")
def _():
    def route(context):
        one = context.run("one", lambda: context.request_payload["n"])
        return context.run("two", lambda: one + 1)

    assert ran(route) == 2


@operation("sleep, sleep_until")
def _():
    def route(context):
        context.sleep("nap", 1)
        context.sleep_until("later", time.time() + 1)
        return "woke"

    assert ran(route) == "woke"


@operation("call")
def _():
    third = Inbox(lambda *_: (201, b'{"hello":"you"}', {}))

    def route(context):
        response = context.call("third", url=third.url, method="POST", body={"asked": True})
        return (response.status, response.body)

    assert ran(route) == (201, {"hello": "you"})


@operation("receiver")
def _():
    url = serve(lambda context: None, receiver=Receiver(keys.current, keys.next))
    try:
        start(url)
    except urllib.error.HTTPError as error:
        assert error.code == 500
    else:
        raise AssertionError("A request without a signature was taken.")
    ended = threading.Event()
    signed = serve(lambda context: context.run("one", ended.set), receiver=Receiver(keys.current, keys.next))
    client.message.publish_json(url=signed, body={"n": 1})
    assert ended.wait(PATIENCE_SECONDS), "The run did not end."


@operation("failure_function")
def _():
    failed = threading.Event()

    def route(context):
        def bad():
            raise ValueError("broken")

        # Some versions name their failure function with their steps only, so one has to be submitted.
        context.run("good", lambda: 1)
        context.run("bad", bad)

    start(serve(route, failure_function=lambda *_: failed.set()))
    assert failed.wait(PATIENCE_SECONDS), "Nobody was told of the failure."


run(upstash_workflow)
