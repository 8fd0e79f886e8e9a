"""Traces in the JSON format that Chrome's tracing page and Perfetto read.

A trace has tracks; a span lies on one track, from a moment for a duration; a flow is an arrow from one moment on a
track to one on another. Moments are numbers of the trace's own unit, written as microseconds.
Source: "Trace Event Format", Google, 2016 (event types X, M, s and f).
"""

import json
from collections.abc import Mapping

PROCESS = 1


class ChromeTrace:
    """A trace under construction."""

    def __init__(self, name: str, *, microseconds: float = 1.0):
        """Begin a trace; its unit of time is shown as so many microseconds."""
        self._scale = microseconds
        self._tracks: dict[str, int] = {}
        self._flows = 0
        self._events: list[dict[str, object]] = []
        self._name("process_name", 0, name)

    def track(self, name: str) -> int:
        """Return the number of a track, the same for the same name; tracks are shown in this order."""
        if name not in self._tracks:
            number = self._tracks[name] = len(self._tracks) + 1
            self._name("thread_name", number, name)
            self._metadata("thread_sort_index", number, {"sort_index": number})
        return self._tracks[name]

    def span(
        self,
        track: str,
        name: str,
        start: float,
        duration: float,
        details: Mapping[str, object] | None = None,
    ) -> None:
        """Add what happened on a track; `details` are shown when it is chosen."""
        event = self._event("X", self.track(track), name, start)
        event["dur"] = duration * self._scale
        if details:
            event["args"] = dict(details)

    def flow(
        self, name: str, source: tuple[str, float], sink: tuple[str, float]
    ) -> None:
        """Add an arrow between two moments, each on a track, inside spans that it connects."""
        self._flows += 1
        for phase, (track, moment) in (("s", source), ("f", sink)):
            event = self._event(phase, self.track(track), name, moment)
            event["id"] = self._flows
            if phase == "f":
                event["bp"] = "e"

    def text(self) -> str:
        """Return the trace as JSON."""
        content = {"displayTimeUnit": "ns", "traceEvents": self._events}
        return json.dumps(content, separators=(",", ":"))

    def _event(
        self, phase: str, track: int, name: str, moment: float
    ) -> dict[str, object]:
        event: dict[str, object] = {
            "ph": phase,
            "cat": "partita",
            "name": name,
            "pid": PROCESS,
            "tid": track,
            "ts": moment * self._scale,
        }
        self._events.append(event)
        return event

    def _name(self, what: str, track: int, name: str) -> None:
        self._metadata(what, track, {"name": name})

    def _metadata(self, what: str, track: int, content: Mapping[str, object]) -> None:
        self._events.append(
            {"ph": "M", "name": what, "pid": PROCESS, "tid": track, "args": content}
        )
