"""uvicorn's protocol with a limit of its own: uvicorn waits for ever for the rest of a request."""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol


def timed_protocol(seconds: float) -> type[asyncio.Protocol]:
    """Return the protocol that closes a connection after so many seconds without the whole request."""

    class TimedProtocol(H11Protocol):
        """Closes a connection whose request does not arrive; an answer may take as long as it needs."""

        waiting: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._wait()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            in_body = self.cycle is not None and self.cycle.more_body
            # The head must be complete in time, however its bytes drip in; a body only has to go on.
            if in_body or self._has_arrived():
                self._stop_waiting()
            if self.waiting is None and not self._has_arrived():
                self._wait()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            super().connection_lost(exc)

        def _has_arrived(self) -> bool:
            return self.cycle is not None and not (self.cycle.more_body or self.cycle.response_complete)

        def _wait(self) -> None:
            self.waiting = self.loop.call_later(seconds, self._give_up)

        def _stop_waiting(self) -> None:
            if self.waiting is not None:
                self.waiting.cancel()
                self.waiting = None

        def _give_up(self) -> None:
            self.waiting = None
            if not self._has_arrived():
                self.transport.close()

    return TimedProtocol
