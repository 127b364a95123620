"""The other side of `lanes.Worker`: run as ``python -m dlm.learning.worker READ_FD WRITE_FD``."""

from __future__ import annotations

import pickle
import sys
from multiprocessing.connection import Connection

from dlm.errors import DlmError
from dlm.learning.lanes import Lane, Order, Suggestion
from dlm.runs.learner import Report

__all__ = ["main"]


def main() -> None:
    """The worker's side."""
    receive = Connection(int(sys.argv[1]), writable=False)
    send = Connection(int(sys.argv[2]), readable=False)
    try:
        sys.path[:] = receive.recv()
        order: Order = pickle.loads(receive.recv_bytes())
        try:
            _work(Lane(order), receive, send)
        except DlmError as error:
            send.send(error)
    except (EOFError, BrokenPipeError):
        pass  # the parent is gone


def _work(lane: Lane, receive: Connection, send: Connection) -> None:
    best = 0.0
    while True:
        while receive.poll():
            lane.refute(receive.recv())
        for message in lane.poll():
            send.send(message)
            almost = getattr(lane.learner, "current_choices", None)
            candidate = message.candidate if isinstance(message, Report) else None
            if almost is not None and candidate is not None and candidate.score > best:
                best = candidate.score
                send.send(Suggestion(almost(), lane.learner.name))


if __name__ == "__main__":
    main()
