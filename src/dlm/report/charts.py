"""Charts as SVG, drawn here so that a page needs no library: curves of training, and the front."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

__all__ = ["front_chart", "line_chart"]

WIDTH, HEIGHT = 420, 220
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 14, 34

Point = tuple[float, float]


def line_chart(title: str, lines: Mapping[str, Sequence[Point]], across: str) -> str:
    """Curves by name, against what `across` names."""
    points = [point for line in lines.values() for point in line]
    scale = _Scale(points)
    drawn = []
    for number, (name, line) in enumerate(lines.items()):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(scale.at, line))
        drawn.append(f'<polyline class="line line-{number % 4}" points="{path}"/>')
        if len(lines) > 1:
            drawn.append(
                f'<text class="key key-{number % 4}" x="{LEFT + 8 + 110 * number}" y="{TOP + 10}">{escape(name)}</text>'
            )
    last = ", ".join(f"{name} {_short(line[-1][1])}" for name, line in lines.items() if line)
    return _svg(f"{title} against {across}; at the end {last}", [*scale.axes(across), *drawn])


def front_chart(points: Sequence[Point], chosen: int | None) -> str:
    """Programs by size and errors, the chosen one marked; each point knows its number."""
    scale = _Scale([*points, (0.0, 0.0)])
    drawn = [
        f'<polyline class="line line-0" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in map(scale.at, points))}"/>'
    ]
    for number, point in enumerate(points):
        x, y = scale.at(point)
        kind = "point chosen" if number == chosen else "point"
        drawn.append(f'<circle class="{kind}" data-front="{number}" cx="{x:.1f}" cy="{y:.1f}" r="7"/>')
    said = "; ".join(f"size {_short(size)}, {_short(errors)} errors" for size, errors in points)
    return _svg(f"Size against errors: {said}", [*scale.axes("literals"), *drawn])


class _Scale:
    """From figures to places in the picture."""

    def __init__(self, points: Sequence[Point]) -> None:
        xs, ys = [x for x, _ in points] or [0.0], [y for _, y in points] or [0.0]
        self.left, self.right = min(xs), max(xs) if max(xs) > min(xs) else min(xs) + 1
        low, high = min([*ys, 0.0]), max(ys)
        self.low, self.high = low, high if high > low else low + 1

    def at(self, point: Point) -> Point:
        x = LEFT + (point[0] - self.left) / (self.right - self.left) * (WIDTH - LEFT - RIGHT)
        y = TOP + (self.high - point[1]) / (self.high - self.low) * (HEIGHT - TOP - BOTTOM)
        return x, y

    def axes(self, across: str) -> list[str]:
        """Lines and figures at round places."""
        drawn = []
        for value in _round_places(self.low, self.high):
            _, y = self.at((self.left, value))
            drawn.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
            drawn.append(f'<text class="tick" x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{_short(value)}</text>')
        for value in _round_places(self.left, self.right):
            x, _ = self.at((value, self.low))
            drawn.append(
                f'<text class="tick" x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{_short(value)}</text>'
            )
        middle = (LEFT + WIDTH - RIGHT) / 2
        drawn.append(f'<text class="tick" x="{middle}" y="{HEIGHT - 3}" text-anchor="middle">{escape(across)}</text>')
        return drawn


def _round_places(low: float, high: float) -> list[float]:
    """About four round numbers between two."""
    step = 10 ** math.floor(math.log10((high - low) / 3))
    step = next(step * factor for factor in (1, 2, 5, 10) if (high - low) / (step * factor) <= 5)
    return [number * step for number in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def _short(value: float) -> str:
    return f"{value:.4g}"


def _svg(label: str, parts: Sequence[str]) -> str:
    start = f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}">'
    return f"{start}{''.join(parts)}</svg>"
