"""
Checks commands of the AWS CLI with the CLI itself, and without AWS: each is parsed, and its input is held against the service's model,
as far as the moment at which it would be sent. `--generate-cli-skeleton output` does so too, but then fails with its own samples.

Its argument is a JSON list of {"region", "args"}. What is wrong with the commands is printed, a line each.
"""

import contextlib
import io
import json
import os
import re
import sys

from awscli.clidriver import create_clidriver


class Sent(Exception):
    """The command is about to be sent."""


sent = []


def stop(**_):
    sent.append(True)
    raise Sent


# One for all commands: it keeps the services' models, which take long to read.
driver = create_clidriver()
driver.session.register("before-call", stop)


def fault_of(args):
    """Returns what the CLI says of a command; None for one that it would send."""
    sent.clear()
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        try:
            driver.main(args)
        except SystemExit:
            pass  # The parser ends the program: it has said why.
    return None if sent else " ".join(said.getvalue().split())


os.environ.update(AWS_ACCESS_KEY_ID="none", AWS_SECRET_ACCESS_KEY="none", AWS_CONFIG_FILE=os.devnull)
for command in json.loads(sys.argv[1]):
    os.environ["AWS_DEFAULT_REGION"] = command["region"]
    if command["region"] == "":
        del os.environ["AWS_DEFAULT_REGION"]
    # A file of the reader is not there any more.
    args = [re.sub("^fileb://(?!/).*", f"fileb://{os.devnull}", arg) for arg in command["args"]]
    fault = fault_of([re.sub("^file://(?!/).*", "text", arg) for arg in args])
    if fault is not None:
        print(f"aws {' '.join(command['args'])}: {fault}")
