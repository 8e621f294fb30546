"""The tasks of the Django project."""

from django_qstash import stashed_task


@stashed_task
def add(one, two):
    return one + two


@stashed_task(bind=True)
def second_time(self):
    if self.request.retries == 0:
        raise self.retry(countdown=1)
    return self.request.retries


@stashed_task
def broken():
    raise ValueError("broken")
