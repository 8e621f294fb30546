"""
Schemathesis's check `positive_data_acceptance`, without the refusals for reasons that no schema can say; and counts of what was
sent, and how it was answered, for `run.ts`.
"""

import atexit
import collections
import json
import os
import re

import schemathesis
from schemathesis.specs.openapi.checks import positive_data_acceptance

# What refusals with 400 say, and why the description cannot say it before.
NO_MATTER_OF_A_SCHEMA = [
    # Several parameters together.
    r"is given without ",
    r"^parallelism and rate are missing",
    r"has neither url nor name",
    r"^endpoints\.\d+ is there twice",
    r", which is after toDate, ",
    r" \(max_requests_per_day\) or more",
    r"^active and state contradict each other",
    # A setting of the deployment.
    r"^region is ",
    # Languages of their own.
    r"(Delay|Timeout|delay|timeout) is .*; allowed is a whole number and a unit",
    r"Redact-Fields is ",
    # Spaces at its ends do not count, and half a character of Unicode is none.
    r"Flow-Control-Key is ",
    r"^headers\.\S* is not a header of the service",
    r"^(expression|\S*Cron|\S*cron) is ",
    r"Retry-Delay is ",
    r"Flow-Control-Value (is|has)",
    r"^period is ",
    # A pattern says what may be a URL, and not which text is one.
    r"(it has another form|it has a backslash behind the host|its user, host or port cannot be read|its host has a space)",
    # A sealed text, which only an answer has.
    r"^cursor is not one",
    # The state of what is named.
    r"^can not append to a cancelled workflow",
    r"^The failure function is ",
    r"^The message .* belongs to the run ",
]

SENTENCES = re.compile("|".join(NO_MATTER_OF_A_SCHEMA))


def sentence_of(response):
    if response.status_code != 400:
        return ""
    return response.json().get("error", "")


@schemathesis.check
def described_data_acceptance(ctx, response, case):
    """Data that the description allows are accepted."""
    if SENTENCES.search(sentence_of(response)):
        return None
    return positive_data_acceptance(ctx, response, case)


# Requests by kind, and their answers by class of status.
COUNTS = collections.defaultdict(collections.Counter)


def kinds_of(case):
    """What a request is meant to be: sound, or malformed in some of its parts and in some ways."""
    meta = case.meta
    if meta is None or meta.generation.mode.value == "positive":
        return ["sound"]
    parts = {part.value for part, info in meta.components.items() if info.mode.value == "negative"}
    ways = {way.operator.value for way in meta.phase.data.mutations}
    scenario = getattr(meta.phase.data, "scenario", None)
    if scenario is not None:
        ways.add(scenario.value)
    return [f"malformed {part}" for part in parts] + [f"by {way}" for way in ways]


@schemathesis.hook
def after_call(context, case, response):
    for kind in kinds_of(case):
        COUNTS[kind][f"{response.status_code // 100}XX"] += 1


@atexit.register
def write_counts():
    with open(os.environ["FUZZ_COUNTS"], "w", encoding="utf-8") as file:
        json.dump(COUNTS, file)
