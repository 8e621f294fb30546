"""The calls of `django-qstash` on PyPI, in a Django project that is served here, with the settings of docs/apps.md."""

import contextlib
import io
import os
import pathlib
import re
import sys
import tempfile
import threading
import urllib.error
import urllib.request
from wsgiref.simple_server import WSGIRequestHandler, make_server

sys.path.append(str(pathlib.Path(__file__).parent.parent))

from operations import TOKEN, URL, eventually, operation, origin, receiver, run, service, unique

keys = service("/v2/keys")
os.environ.update(
    QSTASH_URL=URL,
    QSTASH_TOKEN=TOKEN,
    QSTASH_CURRENT_SIGNING_KEY=keys["current"],
    QSTASH_NEXT_SIGNING_KEY=keys["next"],
    DJANGO_QSTASH_DOMAIN=origin,
)
page = (pathlib.Path(__file__).parents[3] / "docs/apps.md").read_text()
added, _task = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
address_command = re.search(r'manage\.py shell -c "(.*qstash_client.*)"', page)[1]


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass


# Django takes the place of the receiver.
receiver.shutdown()
receiver.server_close()
server = make_server("127.0.0.1", receiver.server_port, None, handler_class=Quiet)

import django
from django.conf import settings
from django.urls import include, path

folder = tempfile.TemporaryDirectory()
of_page = {"INSTALLED_APPS": ["django.contrib.contenttypes", "shop"]}
exec(added, of_page)
settings.configure(
    **{name: value for name, value in of_page.items() if name.isupper()},
    DEBUG=False,
    ALLOWED_HOSTS=["*"],
    SECRET_KEY=unique("secret"),
    ROOT_URLCONF=__name__,
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": f"{folder.name}/db",
            # A transaction that reads first and writes then fails at once beside another; one that may write waits from the start.
            "OPTIONS": {"timeout": 60, "transaction_mode": "IMMEDIATE"},
        }
    },
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    USE_TZ=True,
    LOGGING_CONFIG=None,
)
django.setup()
urlpatterns = [path("qstash/webhook/", include("django_qstash.urls"))]

from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
import django_qstash
from django_qstash.results.models import TaskResult
from django_qstash.schedules.models import TaskSchedule
from shop import tasks

call_command("migrate", verbosity=0)
server.set_app(get_wsgi_application())
threading.Thread(target=server.serve_forever, daemon=True).start()


def stored(task_id):
    """Waits for the result of a task."""
    return eventually(lambda: TaskResult.objects.filter(task_id=task_id).first())


@operation("qstash_client; uses the address of the environment")
def _():
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(address_command)
    assert printed.getvalue().strip() == URL


@operation("delay")
def _():
    result = stored(tasks.add.delay(2, 3).task_id)
    assert (result.status, result.result) == ("SUCCESS", {"result": 5}), result.traceback


@operation("apply_async(countdown)")
def _():
    result = stored(tasks.add.apply_async(args=(1, 1), countdown=1, label="sum").task_id)
    assert result.status == "SUCCESS", result.traceback


@operation("retry(countdown)")
def _():
    stored(tasks.second_time.delay().task_id)
    eventually(lambda: TaskResult.objects.filter(task_name="second_time", status="SUCCESS").first())


@operation("delay; a task that fails is a dead letter")
def _():
    task_id = tasks.broken.apply_async(max_retries=0).task_id
    assert stored(task_id).status == "EXECUTION_ERROR"
    [letter] = eventually(lambda: service(f"/v2/dlq?messageId={task_id}")["messages"])
    assert letter["responseStatus"] == 422


@operation("TaskSchedule; made, paused, deleted")
def _():
    schedule = TaskSchedule.objects.create(name="nightly", task="shop.tasks.add", args=[1, 2], cron="0 0 29 2 *")
    schedule.refresh_from_db()
    shown = service(f"/v2/schedules/{schedule.schedule_id}")
    assert (shown["cron"], shown["destination"]) == ("0 0 29 2 *", f"{origin}/qstash/webhook/")
    schedule.is_active = False
    schedule.save()
    assert service(f"/v2/schedules/{schedule.schedule_id}")["isPaused"] is True
    schedule.delete()


@operation("qstash_webhook_view; refuses a wrong signature")
def _():
    headers = {"Content-Type": "application/json", "Upstash-Signature": "wrong"}
    request = urllib.request.Request(f"{origin}/qstash/webhook/", data=b"{}", headers=headers)
    try:
        urllib.request.urlopen(request)
    except urllib.error.HTTPError as error:
        assert error.code == 400
    else:
        raise AssertionError("It was taken.")


run(django_qstash)
