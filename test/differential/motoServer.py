"""moto's server as a DynamoDB that keeps its promises: it answers one call at a time, since a conditional write of moto is not
atomic among threads, and it has the same tables in all regions, as a stage has."""

import sys
import threading

from moto.core.responses import BaseResponse
from moto.server import main

lock = threading.Lock()
call_action = BaseResponse.call_action


def one_at_a_time(self):
    with lock:
        return call_action(self)


BaseResponse.call_action = one_at_a_time
BaseResponse.get_region_from_url = lambda *_: "eu-central-1"
main(sys.argv[1:])
