"""The operations of `qstash` on PyPI. A case calls only what its name has, so that it runs in every version that declares it."""

import os
import time

import qstash
from operations import TOKEN, URL, Inbox, eventually, fails, operation, run, service, unique

SOMEWHERE = "https://example.com/hook"
client = qstash.QStash(TOKEN, base_url=URL, retry=False)


def kept(**settings):
    """Publishes what is due in ten minutes, and returns what the service keeps of it."""
    published = client.message.publish(**{"url": SOMEWHERE, "delay": 600, **settings})
    return service(f"/v2/messages/{published.message_id}")


@operation("QStash(QSTASH_URL); finds it in the environment")
def _():
    os.environ["QSTASH_URL"] = URL
    inbox = Inbox()
    qstash.QStash(TOKEN, retry=False).message.publish(url=inbox.url)
    inbox.received()


def failing():
    return Inbox(lambda *_: (500, b"broken", {}))


def dead_lettered():
    """Publishes what fails permanently; the id of its dead letter."""
    message_id = client.message.publish(url=failing().url, retries=0).message_id
    letters = eventually(lambda: service(f"/v2/dlq?messageId={message_id}")["messages"])
    return letters[0]["dlqId"]


@operation("message.publish(url, method, headers, body)")
def _():
    inbox = Inbox()
    client.message.publish(url=inbox.url, method="PUT", headers={"X-Tenant": "acme"}, body="work")
    [(method, headers, body)] = inbox.received()
    assert (method, headers["X-Tenant"], body) == ("PUT", "acme", b"work")


@operation("message.publish_json")
def _():
    inbox = Inbox()
    client.message.publish_json(url=inbox.url, body={"a": 1})
    [(_, headers, body)] = inbox.received()
    assert (headers["Content-Type"], body) == ("application/json", b'{"a": 1}')


@operation("message.publish(delay)")
def _():
    message = kept(delay="10m")
    assert 590_000 < message["notBefore"] - message["createdAt"] < 610_000


@operation("message.publish(not_before)")
def _():
    not_before = int(time.time()) + 900
    assert kept(not_before=not_before, delay=None)["notBefore"] == not_before * 1000


@operation("message.publish(retries)")
def _():
    assert kept(retries=2)["maxRetries"] == 2


@operation("message.publish(retry_delay)")
def _():
    assert kept(retry_delay="1000 * retried")["retryDelayExpression"] == "1000 * retried"


@operation("message.publish(timeout)")
def _():
    assert kept(timeout="20s")["timeout"] == 20


@operation("message.publish(callback)")
def _():
    callbacks = Inbox()
    message_id = client.message.publish(url=Inbox().url, callback=callbacks.url).message_id
    assert message_id.encode() in callbacks.received()[0][2]


@operation("message.publish(failure_callback)")
def _():
    callbacks = Inbox()
    client.message.publish(url=failing().url, retries=0, failure_callback=callbacks.url)
    assert b'"status":500' in callbacks.received()[0][2]


@operation("message.publish(deduplication_id)")
def _():
    message = {"url": SOMEWHERE, "delay": 600, "deduplication_id": unique("id")}
    first, second = client.message.publish(**message), client.message.publish(**message)
    assert (first.message_id, second.deduplicated) == (second.message_id, True)


@operation("message.publish(content_based_deduplication)")
def _():
    message = {"url": SOMEWHERE, "delay": 600, "body": unique("work"), "content_based_deduplication": True}
    first, second = client.message.publish(**message), client.message.publish(**message)
    assert (first.message_id, second.deduplicated) == (second.message_id, True)


@operation("message.publish(label)")
def _():
    assert kept(label="nightly")["label"] == "nightly"


@operation("message.publish(flow_control)")
def _():
    assert kept(flow_control={"key": "tenant", "parallelism": 3})["flowControlKey"] == "tenant"


@operation("message.publish(redact)")
def _():
    assert kept(body="secret", redact={"body": True})["body"].startswith("REDACTED:")


@operation("message.publish(url_group)")
def _():
    inbox, group = Inbox(), unique("group")
    client.url_group.upsert_endpoints(group, [{"url": inbox.url}])
    client.message.publish(url_group=group, body="to all", method="POST")
    assert inbox.received()[0][1]["Upstash-Topic-Name"] == group
    client.url_group.delete(group)


@operation("message.enqueue, enqueue_json")
def _():
    inbox, queue = Inbox(), unique("queue")
    client.message.enqueue(queue=queue, url=inbox.url, body="one")
    client.message.enqueue_json(queue=queue, url=inbox.url, body={"two": 2})
    assert [body for _, _, body in inbox.received(2)] == [b"one", b'{"two": 2}']
    client.queue.delete(queue)


@operation("message.batch, batch_json")
def _():
    inbox = Inbox()
    client.message.batch([{"url": inbox.url, "body": "one"}])
    client.message.batch_json([{"url": inbox.url, "body": {"two": 2}}])
    assert {body for _, _, body in inbox.received(2)} == {b"one", b'{"two": 2}'}


@operation("message.get, cancel, cancel_many")
def _():
    first, second = (client.message.publish(url=SOMEWHERE, delay=600).message_id for _ in range(2))
    assert client.message.get(first).url == SOMEWHERE
    client.message.cancel(first)
    assert client.message.cancel_many([second]) == 1
    fails(client.message.get, first)


@operation("Receiver.verify")
def _():
    inbox = Inbox()
    # A setting shows the dialect: a request without any is like everybody's, and its delivery has `Svc-Signature`.
    client.message.publish(url=inbox.url, body="work")
    [(_, headers, body)] = inbox.received()
    keys = client.signing_key.get()
    receiver = qstash.Receiver(keys.current, keys.next)
    receiver.verify(signature=headers["Upstash-Signature"], body=body.decode(), url=inbox.url)
    fails(receiver.verify, signature=headers["Upstash-Signature"], body="other", url=inbox.url)


@operation("AsyncQStash")
def _():
    import asyncio

    inbox = Inbox()
    asyncio.run(qstash.AsyncQStash(TOKEN, base_url=URL).message.publish(url=inbox.url, body="work"))
    inbox.received()


@operation("url_group.upsert_endpoints, get, list, remove_endpoints, delete")
def _():
    group = unique("group")
    client.url_group.upsert_endpoints(group, [{"url": SOMEWHERE}, {"url": f"{SOMEWHERE}/2"}])
    client.url_group.remove_endpoints(group, [{"url": f"{SOMEWHERE}/2"}])
    assert [one.url for one in client.url_group.get(group).endpoints] == [SOMEWHERE]
    assert group in [one.name for one in client.url_group.list()]
    client.url_group.delete(group)
    fails(client.url_group.get, group)


@operation("queue.upsert, get, list, pause, resume, delete")
def _():
    queue = unique("queue")
    client.queue.upsert(queue, parallelism=2)
    client.queue.pause(queue)
    shown = client.queue.get(queue)
    assert (shown.parallelism, shown.paused) == (2, True)
    client.queue.resume(queue)
    assert queue in [one.name for one in client.queue.list()]
    client.queue.delete(queue)


@operation("schedule.create, get, list, pause, resume, delete")
def _():
    schedule = client.schedule.create(destination=SOMEWHERE, cron="0 0 29 2 *", body="work", retries=2)
    shown = client.schedule.get(schedule)
    assert (shown.cron, shown.body, shown.retries) == ("0 0 29 2 *", "work", 2)
    client.schedule.pause(schedule)
    assert client.schedule.get(schedule).paused is True
    client.schedule.resume(schedule)
    assert schedule in [one.schedule_id for one in client.schedule.list()]
    client.schedule.delete(schedule)
    fails(client.schedule.get, schedule)


@operation("schedule.create_json(schedule_id)")
def _():
    schedule = unique("schedule")
    client.schedule.create_json(destination=SOMEWHERE, cron="0 0 29 2 *", body={"a": 1}, schedule_id=schedule)
    assert client.schedule.get(schedule).body == '{"a": 1}'
    client.schedule.delete(schedule)


@operation("dlq.list, get, delete, delete_many")
def _():
    first, second = dead_lettered(), dead_lettered()
    assert client.dlq.get(first).dlq_id == first
    listed = {one.dlq_id: one for one in client.dlq.list().messages}
    assert {first, second} <= listed.keys()
    assert (listed[first].response_status, listed[first].response_body) == (500, "broken")
    client.dlq.delete(first)
    assert client.dlq.delete_many([second]) == 1


def delivered():
    message_id = client.message.publish(url=Inbox().url).message_id
    eventually(lambda: [one for one in service(f"/v2/logs?messageId={message_id}")["logs"] if one["state"] == "DELIVERED"])
    return message_id


@operation("LogApi.list")
def _():
    message_id = delivered()
    assert client.log.list(filter={"message_id": message_id}).logs
    # The client refuses states that it does not know.
    cancelled = client.message.publish(url=SOMEWHERE, delay=600).message_id
    client.message.cancel(cancelled)
    assert client.log.list(filter={"message_id": cancelled}).logs


@operation("EventApi.list")
def _():
    message_id = delivered()
    assert client.event.list(filter={"message_id": message_id}).events


@operation("flow_control_api.get, pause, resume, pin, unpin, reset_rate")
def _():
    inbox, key = Inbox(), unique("key")
    client.message.publish(url=inbox.url, flow_control={"key": key, "rate": 10, "period": "1m"})
    inbox.received()
    client.flow_control.pause(key)
    client.flow_control.resume(key)
    client.flow_control.pin(key, {"parallelism": 5})
    assert client.flow_control.get(key).parallelism_max == 5
    client.flow_control.unpin(key, {"parallelism": True})
    client.flow_control.reset_rate(key)


run(qstash)
