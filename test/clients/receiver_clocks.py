"""Verifies signatures with the client on PyPI and with PyJWT. Prints a line when ready, reads signatures as JSON from standard input,
and prints for each whether both accept it."""

import json
import sys

import jwt
from qstash import Receiver

print("ready", flush=True)
given = json.loads(sys.stdin.readline())
receiver = Receiver(given["currentSigningKey"], given["nextSigningKey"])


def by_client(signature):
    try:
        receiver.verify(signature=signature, body=given["body"], url=given["url"])
        return True
    except Exception as error:
        return str(error)


def by_library(signature):
    try:
        jwt.decode(
            signature, given["currentSigningKey"], algorithms=["HS256"], issuer="Upstash", subject=given["url"]
        )
        return True
    except jwt.PyJWTError as error:
        return str(error)


print(json.dumps([[by_client(one), by_library(one)] for one in given["signatures"]]))
