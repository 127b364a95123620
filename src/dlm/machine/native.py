"""A small language of vectors that is compiled while the program runs, by LLVM.

Python writes the code once: its loops are unrolled, `Code.loop` is a loop when the code runs. Vectors may have any
width; LLVM fits them to what the processor has.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, reduce
from typing import Any, Literal

import torch

with suppress(ImportError):
    import llvmlite.binding as llvm
    from llvmlite import ir

__all__ = ["Argument", "Code", "Room", "Sums", "available", "compiled"]

Argument = Literal["count", "indices", "numbers"]


def available(device: torch.device) -> bool:
    """Whether there is a compiler for the device: llvmlite comes with the extra `gradient`."""
    return "llvm" in globals() and device.type == "cpu"


@cache
def _register_bytes() -> int:
    """Of a vector register of this processor."""
    features = llvm.get_host_cpu_features()
    return 64 if features.get("avx512f") else 32 if features.get("avx2") else 16


@dataclass(frozen=True)
class Room:
    """Numbers in memory, from an address on."""

    address: Any
    type: Any

    def at(self, code: Code, index: Any) -> Room:
        """The same from an entry on."""
        return Room(code.builder.gep(self.address, [code.number(index)], source_etype=self.type), self.type)


class Code:
    """A function under construction; `arguments` are those it will be called with."""

    def __init__(self, name: str, arguments: Sequence[Argument], dtype: torch.dtype) -> None:
        self.module = ir.Module()
        self.count = ir.IntType(64)
        self.scalar = ir.FloatType() if dtype == torch.float32 else ir.DoubleType()
        self.lanes = _register_bytes() // dtype.itemsize
        pointer = ir.PointerType()
        kinds = [self.count if kind == "count" else pointer for kind in arguments]
        function = ir.Function(self.module, ir.FunctionType(ir.VoidType(), kinds), name)
        entry = function.append_basic_block()
        self.rooms = ir.IRBuilder(entry)
        self.builder = ir.IRBuilder(function.append_basic_block())
        self._body, self._entry = self.builder.block, entry
        self.arguments: list[Any] = []
        for kind, argument in zip(arguments, function.args, strict=True):
            if kind != "count":
                # No argument's memory is another's.
                argument.add_attribute("noalias")
            numbers = {"indices": self.count, "numbers": self.scalar}
            self.arguments.append(argument if kind == "count" else Room(argument, numbers[kind]))

    def room(self, size: int) -> Room:
        """Numbers that last as long as a call.

        They stay in memory, behind an address that says nothing: LLVM 22 makes broken code of a room that it tries to
        keep in registers, where short vectors are written and long ones read.
        """
        address = self.rooms.alloca(self.scalar, size=ir.Constant(self.count, size))
        address.align = 64
        start = self.rooms.gep(address, [self.number(0)], source_etype=self.scalar)
        start.type = ir.PointerType()  # an address of numbers or of vectors
        kind = ir.FunctionType(ir.PointerType(), [ir.PointerType()])
        return Room(self.rooms.asm(kind, "", "=r,0", [start], side_effect=False), self.scalar)

    def number(self, value: Any) -> Any:
        return ir.Constant(self.count, value) if isinstance(value, int) else value

    def vector(self, value: float, width: int) -> Any:
        """All entries alike."""
        return ir.Constant(ir.VectorType(self.scalar, width), [ir.Constant(self.scalar, value)] * width)

    @contextmanager
    def loop(self, count: Any, step: int = 1) -> Iterator[Any]:
        """Code for 0, step, ... below the count."""
        builder, before = self.builder, self.builder.block
        head, body, after = (builder.append_basic_block() for _ in range(3))
        builder.branch(head)
        builder.position_at_end(head)
        index = builder.phi(self.count)
        index.add_incoming(self.number(0), before)
        builder.cbranch(builder.icmp_signed("<", index, self.number(count)), body, after)
        builder.position_at_end(body)
        yield index
        index.add_incoming(builder.add(index, self.number(step)), builder.block)
        builder.branch(head)
        builder.position_at_end(after)

    def load(self, room: Room, index: Any, width: int | None = None) -> Any:
        """A vector, or a number of its own."""
        kind = room.type if width is None else ir.VectorType(room.type, width)
        return self.builder.load(
            room.at(self, index).address, typ=kind, align=8 if width is None and kind == self.count else 4
        )

    def store(self, vector: Any, room: Room, index: Any) -> None:
        self.builder.store(vector, room.at(self, index).address, align=4)

    def spread(self, number: Any, width: int) -> Any:
        """A number as a vector."""
        kind = ir.VectorType(self.scalar, width)
        one = self.builder.insert_element(ir.Constant(kind, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
        return self.builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), width), [0] * width))

    def part(self, vector: Any, start: int, width: int) -> Any:
        """Some entries of a vector, side by side."""
        places = [ir.Constant(ir.IntType(32), start + place) for place in range(width)]
        return self.builder.shuffle_vector(vector, vector, ir.Constant(ir.VectorType(ir.IntType(32), width), places))

    def widen(self, vector: Any, value: float) -> Any:
        """A vector as wide as a register, with that value in the entries that are new."""
        size = vector.type.count
        places = [ir.Constant(ir.IntType(32), min(place, size)) for place in range(self.lanes)]
        mask = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), places)
        return self.builder.shuffle_vector(vector, self.vector(value, size), mask)

    def entry(self, vector: Any, index: int) -> Any:
        return self.builder.extract_element(vector, ir.Constant(ir.IntType(32), index))

    def sum(self, *counts: Any) -> Any:
        return reduce(self.builder.add, map(self.number, counts))

    def product(self, *counts: Any) -> Any:
        return reduce(self.builder.mul, map(self.number, counts))

    def add(self, one: Any, other: Any) -> Any:
        return self.builder.fadd(one, other)

    def subtract(self, one: Any, other: Any) -> Any:
        return self.builder.fsub(one, other)

    def multiply(self, one: Any, other: Any) -> Any:
        return self.builder.fmul(one, other)

    def divide(self, one: Any, other: Any) -> Any:
        return self.builder.fdiv(one, other)

    def multiply_add(self, one: Any, other: Any, third: Any) -> Any:
        """one * other + third."""
        return self.builder.fadd(self.builder.fmul(one, other, flags=("contract",)), third, flags=("contract",))

    def choose(self, relation: str, one: Any, other: Any, yes: Any, no: Any) -> Any:
        """Entry by entry, `yes` where one is in that relation to the other."""
        return self.builder.select(self.builder.fcmp_ordered(relation, one, other), yes, no)

    def if_any(self, count: Any, yes: Any, no: Any) -> Any:
        return self.builder.select(self.builder.icmp_signed(">", count, self.number(0)), yes, no)

    def combine(self, factors: Sequence[int], vectors: Sequence[Any]) -> Any:
        """The sum of vectors times whole numbers."""
        total = None
        for factor, vector in zip(factors, vectors, strict=True):
            if factor:
                width = vector.type.count
                if total is None:
                    total = vector if factor == 1 else self.builder.fmul(vector, self.vector(float(factor), width))
                elif factor in (1, -1):
                    total = (self.builder.fadd if factor == 1 else self.builder.fsub)(total, vector)
                else:
                    total = self.multiply_add(vector, self.vector(float(factor), width), total)
        assert total is not None
        return total

    def finish(self) -> Any:
        self.builder.ret_void()
        self.rooms.branch(self._body)
        return self.module


class Sums:
    """So many numbers in registers, to which loops add."""

    def __init__(self, code: Code, width: int, start: Room | None = None) -> None:
        """From 0, or from what is there."""
        self.code = code
        self.pieces = [(at, min(code.lanes, width - at)) for at in range(0, width, code.lanes)]
        self.totals = [
            Variable(code, code.vector(0.0, size) if start is None else code.load(start, at, size))
            for at, size in self.pieces
        ]

    def add_product(self, number: Any, line: Room) -> None:
        """Add a number times the numbers of a line."""
        for total, (at, size) in zip(self.totals, self.pieces, strict=True):
            factor, vector = self.code.spread(number, size), self.code.load(line, at, size)
            total.set(self.code.multiply_add(factor, vector, total.get()))

    def store(self, into: Room) -> None:
        for total, (at, _) in zip(self.totals, self.pieces, strict=True):
            self.code.store(total.get(), into, at)


class Variable:
    """A vector that changes in loops."""

    def __init__(self, code: Code, value: Any) -> None:
        self.code, self.type = code, value.type
        self.place = code.rooms.alloca(value.type)
        self.set(value)

    def get(self) -> Any:
        return self.code.builder.load(self.place, typ=self.type)

    def set(self, value: Any) -> None:
        self.code.builder.store(value, self.place)


_engines: list[Any] = []


def compiled(code: Code) -> Callable[..., None]:
    """The function, to be called with numbers and addresses (`torch.Tensor.data_ptr`)."""
    name = next(iter(code.module.functions)).name
    module = llvm.parse_assembly(str(code.finish()))
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=3
    )
    module.verify()
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    passes.getModulePassManager().run(module, passes)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    _engines.append(engine)  # the code lives as long as its engine
    function = next(f for f in module.functions if f.name == name)
    kinds = [ctypes.c_int64 if str(kind.type) == "i64" else ctypes.c_void_p for kind in function.arguments]
    return ctypes.CFUNCTYPE(None, *kinds)(engine.get_function_address(name))
