"""Running blocking calls, of a store or a model, in threads, so that other visitors need not wait for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

_Result = TypeVar("_Result")
_Parameters = ParamSpec("_Parameters")


async def in_thread(
    work: Callable[_Parameters, _Result], /, *args: _Parameters.args, **kwargs: _Parameters.kwargs
) -> _Result:
    """Call a function in a thread of the pool and return its result, without blocking other requests."""
    from anyio import to_thread

    return await to_thread.run_sync(partial(work, *args, **kwargs))
