"""A slow, readable interpreter of PTX: enough of it for the kernel of octavo/engine/device.

Each thread runs alone from its first instruction to its last. What PTX's document leaves undefined is an error.
"""

from __future__ import annotations

import re
from itertools import product

BASE = 1 << 40  # the address of the memory's first byte
COMPARE = {
    "eq": int.__eq__, "ne": int.__ne__, "lt": int.__lt__, "le": int.__le__, "gt": int.__gt__, "ge": int.__ge__,
}  # fmt: skip


class Kernel:
    """The one kernel of a text."""

    def __init__(self, text: str) -> None:
        head, body = text.split("{", 1)
        self.name = re.search(r"\.entry (\w+)\(", head)[1]
        self.parameters = re.findall(r"\.param \.\w+ (\w+)", head)
        self.labels, self.code = {}, []
        for line in body.rsplit("}", 1)[0].splitlines():
            line = line.strip()
            if line.endswith(":"):
                self.labels[line[:-1]] = len(self.code)
            elif line and not line.startswith(".reg"):
                found = re.fullmatch(r"(?:@(!?%\w+) )?([\w.]+)\s*(.*);", line)
                self.code.append((found[1], found[2].split("."), re.findall(r"\{.*?\}|\[.*?\]|[^\s,]+", found[3])))

    def run(self, parameters: list[int], memory: bytearray, grid: tuple[int, int], block: int) -> None:
        """All threads of a grid of two dimensions, with blocks of one."""
        given = dict(zip(self.parameters, parameters, strict=True))
        for y, x, thread in product(range(grid[1]), range(grid[0]), range(block)):
            special = {"%ctaid.x": x, "%ctaid.y": y, "%tid.x": thread}
            Thread(memory, {**given, **special, "%nctaid.x": grid[0], "%nctaid.y": grid[1], "%ntid.x": block}).run(self)


class Thread:
    def __init__(self, memory: bytearray, registers: dict[str, int]) -> None:
        self.memory, self.registers = memory, registers

    def run(self, kernel: Kernel) -> None:
        at = 0
        while True:
            guard, (name, *words), operands = kernel.code[at]
            at += 1
            if guard and bool(self.registers[guard.lstrip("!")]) == guard.startswith("!"):
                continue
            if name == "ret":
                return
            if name == "bra":
                at = kernel.labels[operands[0]]
            else:
                self.step(name, words, operands)

    def value(self, operand: str) -> int:
        return self.registers[operand] if operand[0] in "%o" else int(operand, 0)

    def place(self, operand: str, size: int) -> slice:
        """Of memory: `[%rd1+16]`."""
        register, _, offset = operand.strip("[]").partition("+")
        first = self.registers[register] + int(offset or 0) - BASE
        assert 0 <= first <= len(self.memory) - size, f"{operand}: outside of memory"
        assert first % size == 0, f"{operand}: not aligned"
        return slice(first, first + size)

    def step(self, name: str, words: list[str], operands: list[str]) -> None:
        bits = 1 if words[-1] == "pred" else int(words[-1][1:])
        to, *rest = operands
        if name == "st":
            value = self.value(rest[0]) % (1 << bits)
            self.memory[self.place(to, bits // 8)] = value.to_bytes(bits // 8, "little")
        elif name == "ld" and words[0] == "param":
            self.registers[to] = self.registers[rest[0].strip("[]")]
        elif name == "ld":
            names = to.strip("{}").replace(",", " ").split()
            place = self.place(rest[0], bits // 8 * len(names))
            for i, one in enumerate(names):
                first = place.start + i * bits // 8
                self.registers[one] = int.from_bytes(self.memory[first : first + bits // 8], "little")
        else:
            self.registers[to] = self.result(name, words, bits, [self.value(operand) for operand in rest])

    def result(self, name: str, words: list[str], bits: int, values: list[int]) -> int:
        """Of arithmetic, as an unsigned number."""
        assert not (name in ("div", "rem", "cvt") and words[-1][0] == "s"), "signed numbers"
        values = [value % (1 << bits) for value in values]
        if name == "setp":
            half = 1 << (bits - 1)
            signed = words[-1][0] == "s"
            return int(COMPARE[words[0]](*((v ^ half) - half if signed else v for v in values)))
        wide = 2 * bits if words[0] == "wide" else bits
        return self.number(name, values) % (1 << wide)

    @staticmethod
    def number(name: str, values: list[int]) -> int:
        match name, values:
            case (("mov" | "cvt" | "cvta"), [a]):
                return a
            case "add", [a, b]:
                return a + b
            case "sub", [a, b]:
                return a - b
            case "mul", [a, b]:
                return a * b
            case "mad", [a, b, c]:
                return a * b + c
            case "div", [a, b]:
                return a // b
            case "rem", [a, b]:
                return a % b
            case "and", [a, b]:
                return a & b
        raise ValueError(f"PTX: {name} of {len(values)} values")
