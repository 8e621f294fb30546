"""
Runs the unchanged published Python client on a service.

    python python_client.py RESULTS

SVC_URL, SVC_TOKEN and SVC_READ_ONLY_TOKEN name the service and the account, which no other test may use.
Writes a JSON object to the file RESULTS: for each case's title null, or the traceback of its failure.
"""

import asyncio
import base64
import json
import os
import sys
import threading
import time
import traceback
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from qstash import AsyncQStash, QStash, Receiver
from qstash.errors import QStashError, SignatureError
from qstash.log import LogState

PATIENCE_SECONDS = 30
SOMEWHERE = "https://example.com/hook"

client = QStash(os.environ["SVC_TOKEN"], base_url=os.environ["SVC_URL"], retry=False)
cases = {}


def case(title):
    """Registers a function as the case with this title."""

    def register(function):
        cases[title] = function
        return function

    return register


def unique(name):
    return f"{name}-{uuid.uuid4().hex[:8]}"


def eventually(read):
    """Reads until the value is truthy, because lists lag behind their messages."""
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        value = read()
        if value:
            return value
        assert time.monotonic() < until, "It did not hold in time."
        time.sleep(0.1)


class Inbox:
    """A path of the receiver, with its requests and the status of its answers."""

    def __init__(self, status=200, answer=b""):
        self.path = f"/{uuid.uuid4().hex}"
        self.url = f"http://127.0.0.1:{receiver.server_port}{self.path}"
        self.status = status
        self.answer = answer
        self.deliveries = []
        inboxes[self.path] = self

    def received(self, count=1):
        with arrived:
            came = arrived.wait_for(lambda: len(self.deliveries) >= count, PATIENCE_SECONDS)
        assert came, f"{len(self.deliveries)} of {count} deliveries came."
        return self.deliveries


class Deliveries(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def deliver(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        inbox = inboxes[self.path]
        self.send_response(inbox.status)
        self.send_header("Content-Length", str(len(inbox.answer)))
        self.end_headers()
        self.wfile.write(inbox.answer)
        with arrived:
            inbox.deliveries.append((self.command, self.headers, body))
            arrived.notify_all()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = deliver

    def log_message(self, *_):
        pass


inboxes = {}
arrived = threading.Condition()
receiver = ThreadingHTTPServer(("127.0.0.1", 0), Deliveries)


def refused(status, call, *args, **kwargs):
    """Asserts that a call is refused with this status."""
    try:
        call(*args, **kwargs)
    except QStashError as error:
        assert f"status: {status}" in str(error), error
    else:
        raise AssertionError(f"It was not refused with {status}.")


def logs_of(message_id, count=1, **filters):
    def read():
        logs = client.log.list(filter={"message_id": message_id, **filters}).logs
        return logs if len(logs) >= count else None

    return eventually(read)


def dead_letter(inbox, **settings):
    """Publishes a message that fails permanently, and returns its dead letter."""
    message_id = client.message.publish(url=inbox.url, retries=0, **settings).message_id
    return eventually(lambda: client.dlq.list(filter={"message_id": message_id}).messages)[0]


@case("message.publish sends bytes, headers and a method")
def _():
    inbox = Inbox()
    client.message.publish(
        url=inbox.url,
        body=b"\x00\xff",
        content_type="application/octet-stream",
        method="PUT",
        headers={"X-Tenant": "acme"},
        timeout=20,
    )
    [(method, headers, body)] = inbox.received()
    assert (method, body) == ("PUT", b"\x00\xff")
    assert headers["Content-Type"] == "application/octet-stream"
    assert headers["X-Tenant"] == "acme"


@case("message.publish_json takes all settings, and message.get shows them")
def _():
    published = client.message.publish_json(
        url=SOMEWHERE,
        body={"a": 1},
        method="PATCH",
        headers={"X-Tenant": "acme"},
        retries=2,
        retry_delay="1000 * (1 + retried)",
        callback="https://example.com/callback",
        failure_callback="https://example.com/failure",
        callback_headers={"Upstash-Callback-Forward-X-Own": "1"},
        failure_callback_headers={"Upstash-Failure-Callback-Retries": "1"},
        delay="10m",
        timeout="15s",
        label="nightly",
        flow_control={"key": "tenant", "parallelism": 3, "rate": 5, "period": "1m"},
        redact={"header": ["X-Secret"]},
    )
    assert published.deduplicated is False
    message = client.message.get(published.message_id)
    assert message.message_id == published.message_id
    assert (message.url, message.method, message.body) == (SOMEWHERE, "PATCH", '{"a": 1}')
    assert (message.max_retries, message.retry_delay_expression) == (2, "1000 * (1 + retried)")
    assert message.callback == "https://example.com/callback"
    assert message.failure_callback == "https://example.com/failure"
    assert 590_000 < message.not_before - message.created_at < 610_000
    flow = message.flow_control
    assert (flow.key, flow.parallelism, flow.rate, flow.period) == ("tenant", 3, 5, 60)
    assert message.label == "nightly"
    assert message.caller_ip
    client.message.cancel(published.message_id)


@case("message.publish sends at a time, and redacts")
def _():
    not_before = int(time.time()) + 600
    published = client.message.publish(
        url=SOMEWHERE, body="secret", not_before=not_before, redact={"body": True, "header": True}
    )
    message = client.message.get(published.message_id)
    assert message.not_before == not_before * 1000
    assert message.body.startswith("REDACTED:")
    client.message.cancel(published.message_id)


@case("message.publish deduplicates by id and by content")
def _():
    for settings in ({"deduplication_id": unique("id")}, {"content_based_deduplication": True}):
        first, second = (
            client.message.publish_json(url=SOMEWHERE, body=str(settings), delay=600, **settings)
            for _ in range(2)
        )
        assert (first.deduplicated, second.deduplicated) == (False, True)
        assert first.message_id == second.message_id


@case("message.enqueue and enqueue_json use a queue")
def _():
    inbox = Inbox()
    queue = unique("queue")
    client.message.enqueue(queue=queue, url=inbox.url, body="one", retries=1)
    enqueued = client.message.enqueue_json(queue=queue, url=inbox.url, body={"two": 2}, retries=1)
    assert enqueued.message_id.startswith("msg_")
    deliveries = inbox.received(2)
    assert {headers["Upstash-Queue-Name"] for _, headers, _ in deliveries} == {queue}
    client.queue.delete(queue)


@case("message.batch and batch_json send each message, with null for settings that are not given")
def _():
    inbox = Inbox()
    group, queue = unique("group"), unique("queue")
    client.url_group.upsert_endpoints(group, [{"url": inbox.url}])
    to_url, to_group, queued = client.message.batch(
        [
            {"url": inbox.url},
            {"url_group": group, "body": "to all", "headers": {"X-Tenant": "acme"}},
            {"url": inbox.url, "queue": queue, "body": "queued", "retries": 1, "delay": "1s"},
        ]
    )
    assert to_url.message_id and queued.message_id
    assert [one.url for one in to_group] == [inbox.url]
    [json_answer] = client.message.batch_json([{"url": inbox.url, "body": {"a": 1}}])
    assert json_answer.message_id
    deliveries = inbox.received(4)
    assert sorted(body for _, _, body in deliveries) == [b"", b"queued", b"to all", b'{"a": 1}']
    client.url_group.delete(group)
    client.queue.delete(queue)


@case("message.publish to a URL group returns an answer for each endpoint")
def _():
    inboxes_of_group = [Inbox(), Inbox()]
    group = unique("group")
    client.url_group.upsert_endpoints(group, [{"url": inbox.url} for inbox in inboxes_of_group])
    answers = client.message.publish(url_group=group, body="all", method="POST")
    assert [answer.url for answer in answers] == [inbox.url for inbox in inboxes_of_group]
    for inbox, answer in zip(inboxes_of_group, answers):
        [(_, headers, _)] = inbox.received()
        assert headers["Upstash-Message-Id"] == answer.message_id
    client.url_group.delete(group)


@case("message.cancel, cancel_many and cancel_all withdraw messages")
def _():
    ids = [client.message.publish(url=SOMEWHERE, delay="10m").message_id for _ in range(4)]
    client.message.cancel(ids[0])
    refused(404, client.message.get, ids[0])
    assert client.message.cancel_many(ids[1:3]) == 2
    assert eventually(client.message.cancel_all) >= 1
    refused(404, client.message.get, ids[3])


@case("a callback reports a delivery, with its configured headers")
def _():
    inbox, callbacks = Inbox(answer=b"done"), Inbox()
    client.message.publish(
        url=inbox.url, callback=callbacks.url, callback_headers={"Upstash-Callback-Forward-X-Own": "1"}
    )
    [(_, headers, body)] = callbacks.received()
    assert headers["X-Own"] == "1"
    told = json.loads(body)
    assert (told["status"], base64.b64decode(told["body"])) == (200, b"done")


@case("schedules are created, shown, listed, paused, resumed and deleted")
def _():
    wanted = unique("schedule")
    schedule_id = client.schedule.create_json(
        destination=SOMEWHERE,
        cron="CRON_TZ=Europe/Berlin 0 0 29 2 *",
        schedule_id=wanted,
        body={"a": 1},
        method="PUT",
        headers={"X-Tenant": "acme"},
        retries=2,
        delay=30,
        callback="https://example.com/callback",
        queue="reports",
        label="nightly",
        flow_control={"key": "tenant", "parallelism": 3, "rate": 5, "period": 60},
    )
    assert schedule_id == wanted
    schedule = client.schedule.get(schedule_id)
    assert (schedule.destination, schedule.method, schedule.body) == (SOMEWHERE, "PUT", '{"a": 1}')
    assert (schedule.retries, schedule.delay, schedule.queue) == (2, 30, "reports")
    assert (schedule.label, schedule.flow_control.period) == ("nightly", 60)
    assert schedule.cron == "CRON_TZ=Europe/Berlin 0 0 29 2 *"
    assert (schedule.paused, schedule.last_schedule_time) == (False, None)
    assert schedule.next_schedule_time > time.time() * 1000
    plain = client.schedule.create(destination=SOMEWHERE, cron="0 0 29 2 *", body="plain")
    assert {one.schedule_id for one in client.schedule.list()} >= {schedule_id, plain}
    client.schedule.pause(schedule_id)
    assert client.schedule.get(schedule_id).paused is True
    client.schedule.resume(schedule_id)
    assert client.schedule.get(schedule_id).paused is False
    for one in (schedule_id, plain):
        client.schedule.delete(one)
        refused(404, client.schedule.get, one)
    refused(400, client.schedule.create, destination=SOMEWHERE, cron="99 * * * *")


@case("URL groups are created, shown, listed, changed and deleted, even repeatedly")
def _():
    group = unique("group")
    client.url_group.upsert_endpoints(
        group, [{"url": SOMEWHERE, "name": "one"}, {"url": "https://example.com/two", "name": None}]
    )
    shown = client.url_group.get(group)
    assert (shown.name, [one.name for one in shown.endpoints]) == (group, ["one", None])
    assert shown.created_at <= shown.updated_at
    assert group in [one.name for one in client.url_group.list()]
    client.url_group.remove_endpoints(group, [{"name": "one"}])
    assert [one.url for one in client.url_group.get(group).endpoints] == ["https://example.com/two"]
    client.url_group.delete(group)
    client.url_group.delete(group)
    refused(404, client.url_group.get, group)


@case("queues are created, shown, listed, changed and deleted")
def _():
    queue = unique("queue")
    client.queue.upsert(queue, parallelism=2)
    shown = client.queue.get(queue)
    assert (shown.name, shown.parallelism, shown.paused, shown.lag) == (queue, 2, False, 0)
    client.queue.upsert(queue, parallelism=3)
    assert [one.parallelism for one in client.queue.list() if one.name == queue] == [3]
    client.queue.delete(queue)
    refused(404, client.queue.get, queue)


@case("queues are paused and resumed, and show their waiting messages")
def _():
    inbox, queue = Inbox(), unique("queue")
    refused(404, client.queue.pause, queue)
    client.queue.upsert(queue, parallelism=1, paused=True)
    for body in ("1", "2", "3"):
        client.message.enqueue(queue=queue, url=inbox.url, body=body)
    shown = client.queue.get(queue)
    assert (shown.paused, shown.lag) == (True, 3), shown
    assert inbox.deliveries == []
    client.queue.resume(queue)
    assert [body for _, _, body in inbox.received(3)] == [b"1", b"2", b"3"]
    client.queue.pause(queue)
    assert client.queue.get(queue).paused
    client.queue.delete(queue)
    refused(404, client.queue.resume, queue)


@case("flow-control keys are shown, paused, resumed, pinned, unpinned and reset")
def _():
    inbox, key, keys = Inbox(), unique("flow"), client.flow_control
    refused(404, keys.get, key)

    def publish(count):
        client.message.publish(
            url=inbox.url, flow_control={"key": key, "parallelism": 3, "rate": 10, "period": "1m"}
        )
        inbox.received(count)

    publish(1)
    shown = keys.get(key)
    assert (shown.key, shown.parallelism_max, shown.rate_max, shown.rate_period) == (key, 3, 10, 60), shown
    assert shown.rate_count >= 1 and shown.rate_period_start > 0 and shown.wait_list_size == 0, shown
    keys.pause(key)
    assert keys.get(key).is_paused
    keys.resume(key)
    assert not keys.get(key).is_paused
    keys.pin(key, {"parallelism": 5})
    keys.pin(key, {"rate": 20, "period": 120})
    publish(2)
    shown = keys.get(key)
    assert (shown.parallelism_max, shown.rate_max, shown.rate_period) == (5, 20, 120), shown
    assert shown.is_pinned_parallelism and shown.is_pinned_rate, shown
    keys.unpin(key, {"parallelism": True, "rate": False})
    shown = keys.get(key)
    assert (shown.is_pinned_parallelism, shown.is_pinned_rate) == (False, True), shown
    keys.unpin(key, {"rate": True})
    keys.reset_rate(key)
    shown = keys.get(key)
    assert (shown.rate_count, shown.is_pinned_rate) == (0, False), shown
    publish(3)
    assert keys.get(key).parallelism_max == 3
    refused(400, keys.pin, key, {})
    refused(412, keys.pin, key, {"parallelism": 101})


@case("the parallelism of all deliveries is shown")
def _():
    whole = client.flow_control.get_global_parallelism()
    assert whole.parallelism_max == 100, whole
    assert 0 <= whole.parallelism_count <= 100, whole


@case("dead letters are listed, filtered, shown and deleted, one or many")
def _():
    inbox = Inbox(status=418, answer=b"teapot")
    first = dead_letter(inbox, body="one", label="first", headers={"X-Tenant": "acme"})
    second, third = dead_letter(inbox), dead_letter(inbox)
    assert (first.response_status, first.url, first.method) == (418, inbox.url, "POST")
    shown = client.dlq.get(first.dlq_id)
    assert (shown.dlq_id, shown.body, shown.max_retries) == (first.dlq_id, "one", 0)
    assert shown.response_body == "teapot"
    page = client.dlq.list(count=1, filter={"response_status": 418})
    assert len(page.messages) == 1 and page.cursor
    rest = client.dlq.list(cursor=page.cursor, filter={"response_status": 418})
    assert len(rest.messages) == 2 and rest.cursor is None
    assert [one.dlq_id for one in client.dlq.list(filter={"label": "first"}).messages] == [first.dlq_id]
    client.dlq.delete(first.dlq_id)
    refused(404, client.dlq.get, first.dlq_id)
    assert client.dlq.delete_many([second.dlq_id, third.dlq_id]) == 2


@case("the log is listed with a cursor, and with every filter")
def _():
    inbox, group, queue = Inbox(), unique("group"), unique("queue")
    before = int(time.time() * 1000) - 1_000
    client.url_group.upsert_endpoints(group, [{"url": inbox.url}])
    one = client.message.publish(url=inbox.url, label="logged").message_id
    [to_group] = client.message.publish(url_group=group)
    queued = client.message.enqueue(queue=queue, url=inbox.url).message_id
    for message_id in (one, to_group.message_id, queued):
        delivered = logs_of(message_id, state=LogState.DELIVERED)
        assert [(log.message_id, log.url) for log in delivered] == [(message_id, inbox.url)]
    page = client.log.list(count=1)
    assert len(page.logs) == 1 and page.cursor
    following = client.log.list(count=1, cursor=page.cursor)
    assert following.logs[0].time <= page.logs[0].time
    both = {log.message_id for log in client.log.list(filter={"message_ids": [one, queued]}).logs}
    assert both == {one, queued}

    def by(**filters):
        return {log.message_id for log in client.log.list(filter=filters).logs}

    assert by(label="logged") == {one}
    assert by(url_group=group) == {to_group.message_id}
    assert by(queue=queue) == {queued}
    assert by(url=inbox.url) == by(url=inbox.url, from_time=before) == {one, to_group.message_id, queued}
    assert by(url=inbox.url, to_time=before) == set()
    client.url_group.delete(group)
    client.queue.delete(queue)


@case("signing keys verify a delivery, and change when they are rotated")
def _():
    keys = client.signing_key.get()
    verifier = Receiver(keys.current, keys.next)
    for rotates in (True, False):
        inbox = Inbox()
        client.message.publish(url=inbox.url, body="signed")
        [(_, headers, body)] = inbox.received()
        signed = {"signature": headers["Upstash-Signature"], "url": inbox.url}
        verifier.verify(body=body.decode(), **signed)
        for wrong in ({"body": "forged"}, {"body": "signed", "url": SOMEWHERE}):
            try:
                verifier.verify(**{**signed, **wrong})
            except SignatureError:
                pass
            else:
                raise AssertionError(f"{wrong} was taken.")
        if rotates:
            assert client.signing_key.rotate().current == keys.next


@case("a refusal raises an error that says why")
def _():
    stranger = QStash("not-a-token", base_url=os.environ["SVC_URL"], retry=False)
    refused(401, stranger.queue.list)
    reader = QStash(os.environ["SVC_READ_ONLY_TOKEN"], base_url=os.environ["SVC_URL"], retry=False)
    reader.queue.list()
    refused(403, reader.message.publish, url=SOMEWHERE)
    refused(412, client.message.publish, url=SOMEWHERE, retries=1_000)


@case("the asynchronous client publishes, shows and cancels")
def _():
    async def use():
        other = AsyncQStash(os.environ["SVC_TOKEN"], base_url=os.environ["SVC_URL"], retry=False)
        published = await other.message.publish_json(url=SOMEWHERE, body={"a": 1}, delay="10m")
        assert (await other.message.get(published.message_id)).body == '{"a": 1}'
        assert await other.message.cancel_many([published.message_id]) == 1

    asyncio.run(use())


# The shapes of records, one case for each.


@case("shapes: the log of a cancelled message has a state that the client knows")
def _():
    message_id = client.message.publish(url=SOMEWHERE, delay="10m").message_id
    client.message.cancel(message_id)
    states = {log.state for log in logs_of(message_id)}
    assert LogState.CANCELED in states, states
    assert {log.message_id for log in logs_of(message_id, state=LogState.CANCELED)} == {message_id}


@case("shapes: a dead letter has its answer's body in lists, too")
def _():
    text = dead_letter(Inbox(status=500, answer=b"broken"))
    binary = dead_letter(Inbox(status=500, answer=b"\xff\xfe"))
    assert text.response_body == "broken", text
    assert base64.b64decode(binary.response_body_base64) == b"\xff\xfe", binary
    client.dlq.delete_many([text.dlq_id, binary.dlq_id])


@case("shapes: a rate without a period is per second")
def _():
    message_id = client.message.publish(
        url=SOMEWHERE, delay="10m", flow_control={"key": "tenant", "rate": 5}
    ).message_id
    message = client.message.get(message_id)
    client.message.cancel(message_id)
    assert (message.flow_control.rate, message.flow_control.period) == (5, 1)


@case("shapes: headers are shown with their names in HTTP's spelling")
def _():
    message_id = client.message.publish(url=SOMEWHERE, delay="10m", headers={"x-tenant": "acme"}).message_id
    message = client.message.get(message_id)
    client.message.cancel(message_id)
    assert message.headers["X-Tenant"] == ["acme"], message.headers


@case("shapes: a log entry has its message's settings")
def _():
    inbox = Inbox()
    message_id = client.message.publish(
        url=inbox.url,
        method="PUT",
        headers={"X-Tenant": "acme"},
        retries=1,
        timeout=20,
        label="settings",
        callback=Inbox().url,
        flow_control={"key": "tenant", "parallelism": 3},
    ).message_id
    [log] = logs_of(message_id, state=LogState.DELIVERED)
    assert (log.method, log.max_retries, log.timeout, log.label) == ("PUT", 1, 20, "settings"), log
    assert log.headers["X-Tenant"] == ["acme"], log
    assert (log.flow_control.key, log.flow_control.parallelism) == ("tenant", 3), log
    assert log.callback, log


def run():
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    results = {}
    for title, function in cases.items():
        try:
            function()
            results[title] = None
        except Exception:
            results[title] = traceback.format_exc()
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(results, file)


run()
