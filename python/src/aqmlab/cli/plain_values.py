"""Values of options that are a text or a folder, read as Typer reads them but without pydantic.

Typer imports pydantic and builds a validator for every option, given or not: 0.1 s for one that keeps a text as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer


def read_plainly(params: Sequence[Any]) -> None:
    """Make options that are absent, texts, or read by a function of ours skip Typer's validators."""
    for one in params:
        if descriptor := getattr(one, "type_descriptor", None):
            one.get_runtime_param = _PlainValue(one.get_runtime_param, descriptor)


class _PlainValue:
    """What turns the words of one option into its value; others than plain ones are left to Typer."""

    def __init__(self, typers_own: Any, descriptor: Any) -> None:
        self._typers_own = typers_own
        self._is_text = descriptor.annotation in (str, list[str])
        self._parser = None if descriptor.is_list else descriptor.parameter_info.parser

    def __call__(self) -> _PlainValue:
        return self

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value of an option.

        Raises:
            typer.BadParameter: if it is wrong.

        """
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        if self._parser is not None:
            try:
                return self._parser(value)
            except ValueError as error:
                raise typer.BadParameter(str(error), ctx=ctx, param=param) from error
        if self._is_text:
            return list(value) if isinstance(value, list | tuple) else value
        return self._typers_own().coerce(value, param=param, ctx=ctx)


__all__ = ["read_plainly"]
