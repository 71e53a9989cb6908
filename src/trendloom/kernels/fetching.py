"""A hint to the processor that an element of an array will be wanted soon."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic, overload


@intrinsic
def _prefetch(_context: Any, values: Any, place: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        array = context.make_array(kind)(context, builder, arguments[0])
        pointer = builder.gep(array.data, [arguments[1]])
        byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        fetch = cgutils.get_or_insert_function(  # type: ignore[no-untyped-call]
            builder.module,
            ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag]),
            "llvm.prefetch.p0i8",
        )
        # To be written to, kept near, data.
        hints = [ir.Constant(flag, hint) for hint in (1, 3, 1)]
        builder.call(fetch, [builder.bitcast(pointer, byte), *hints])
        return context.get_dummy_value()

    return types.void(values, place), generate


def prefetch(values: Any, place: Any) -> None:
    """`values[place]` will be wanted; nothing happens if there is no such place."""


@overload(prefetch)
def _overload_prefetch(values: Any, place: Any) -> Any:
    def fetch(values: Any, place: Any) -> None:
        _prefetch(values, place)  # type: ignore[call-arg]

    return fetch
