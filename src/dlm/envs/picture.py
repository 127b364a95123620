"""Pictures of states, drawn with Pillow."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dlm.envs.blocksworld import SOURCE, TARGET, Blocksworld, BlocksworldState
from dlm.envs.domain import AnyDomain, State
from dlm.envs.path import Path, PathState
from dlm.envs.sorting import Sorting, SortingState
from dlm.envs.towers import On, Towers, TowersState
from dlm.errors import DataError, MissingExtraError

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

__all__ = ["draw"]

WIDTH, HEIGHT = 640, 400
MARGIN = 24
HEADER = 52
FINE = 3
"""Everything is drawn this much larger and then made smaller, which smooths the edges."""
SPACING = 1.2
LEAST_PITCH = 34.0
"""Every column keeps its place as long as all blocks could stand side by side this far apart."""

PAPER = (250, 249, 246)
INK = (44, 47, 54)
FAINT = (150, 153, 160)
LINE = (190, 193, 199)
HERE = (43, 108, 196)
GOAL = (38, 150, 96)

Colour = tuple[int, int, int]
Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""


def draw(domain: AnyDomain, state: State, index: int, action: str = "") -> Image:
    """One episode's state as a picture of 640 by 400 points, and the action that is taken in it."""
    canvas = _Canvas.blank()
    area = (MARGIN, HEADER, WIDTH - MARGIN, HEIGHT - MARGIN)
    match domain, state:
        case Towers(), TowersState():
            _draw_towers(canvas, domain, state, index, area)
        case Sorting(), SortingState():
            _draw_bars(canvas, state.values[index].tolist(), area)
        case Path(), PathState():
            _draw_graph(canvas, state, index, area)
        case Blocksworld(), BlocksworldState():
            _draw_two_worlds(canvas, domain, state, index, area)
        case _:
            raise DataError(f"there is no picture of {domain.name}")
    _draw_header(canvas, domain, state, index)
    canvas.text(WIDTH / 2, HEADER / 2, action, 16, HERE)
    return canvas.finished()


class _Canvas(NamedTuple):
    """A picture and what draws on it, in points of the finished picture."""

    image: Image
    pen: ImageDraw

    @classmethod
    def blank(cls) -> _Canvas:
        if find_spec("PIL") is None:
            raise MissingExtraError("pillow", "rl", "drawing a picture of a state")
        from PIL import Image, ImageDraw

        image = Image.new("RGB", (WIDTH * FINE, HEIGHT * FINE), PAPER)
        return cls(image, ImageDraw.Draw(image))

    def finished(self) -> Image:
        from PIL import Image

        small: Image.Image = self.image.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)
        return small

    def block(self, box: Box, colour: Colour, radius: float = 0, outline: Colour | None = None) -> None:
        fine = tuple(value * FINE for value in box)
        self.pen.rounded_rectangle(fine, radius * FINE, fill=colour, outline=outline, width=FINE)

    def disc(self, x: float, y: float, radius: float, colour: Colour, outline: Colour) -> None:
        box = tuple(value * FINE for value in (x - radius, y - radius, x + radius, y + radius))
        self.pen.ellipse(box, fill=colour, outline=outline, width=2 * FINE)

    def line(self, points: Sequence[tuple[float, float]], colour: Colour, width: float) -> None:
        self.pen.line([(x * FINE, y * FINE) for x, y in points], fill=colour, width=round(width * FINE))

    def text(self, x: float, y: float, text: str, size: float, colour: Colour = INK, anchor: str = "mm") -> None:
        from PIL import ImageFont

        font = ImageFont.load_default(size=max(1.0, size * FINE))
        self.pen.text((x * FINE, y * FINE), text, fill=colour, font=font, anchor=anchor)


def _draw_header(canvas: _Canvas, domain: AnyDomain, state: State, index: int) -> None:
    title = domain.name.partition("/")[2].capitalize()
    if isinstance(domain, On) and isinstance(state, TowersState):
        names = domain.objects(domain.size(state))
        title += f": {names[domain.upper]} onto {names[domain.lower]}"
    canvas.text(MARGIN, HEADER / 2, title, 20, anchor="lm")
    left = int(state.left[index])
    status, colour = f"{left} step{'' if left == 1 else 's'} left", FAINT
    if domain.solved(state)[index]:
        status, colour = "solved", GOAL
    elif state.finished[index]:
        status = "over"
    canvas.text(WIDTH - MARGIN, HEADER / 2, status, 16, colour, anchor="rm")


def _draw_towers(canvas: _Canvas, domain: Towers, state: TowersState, index: int, area: Box) -> None:
    columns = domain.columns(state, index)
    _draw_columns(canvas, columns, domain.objects(domain.size(state)), area, _side([columns], area), FAINT)


def _draw_two_worlds(canvas: _Canvas, domain: Blocksworld, state: BlocksworldState, index: int, area: Box) -> None:
    left, top, right, bottom = area
    middle = (left + right) / 2
    names = ["", *map(str, range(1, domain.size(state) + 1))]
    worlds = [domain.columns(state, index, world) for world in (SOURCE, TARGET)]
    boxes = ((left, top, middle - MARGIN / 2, bottom - 22), (middle + MARGIN / 2, top, right, bottom - 22))
    for columns, box, title, colour in zip(worlds, boxes, ("now", "goal"), (FAINT, GOAL), strict=True):
        _draw_columns(canvas, columns, names, box, _side(worlds, box), colour)
        canvas.text((box[0] + box[2]) / 2, bottom - 6, title, 15, colour)


def _side(worlds: list[list[list[int]]], area: Box) -> float:
    """The side of a block with which all these worlds fit into areas of this size."""
    left, top, right, bottom = area
    blocks = sum(map(len, worlds[0]))
    if _kept(blocks, area):
        slots, height = blocks, blocks
    else:
        slots = max(map(len, worlds))
        height = max(len(column) for columns in worlds for column in columns)
    return min((right - left) / (slots * SPACING), (bottom - top - 4) / height, 56.0)


def _kept(blocks: int, area: Box) -> bool:
    return blocks * LEAST_PITCH <= area[2] - area[0]


def _draw_columns(
    canvas: _Canvas, columns: list[list[int]], names: Sequence[str], area: Box, side: float, floor: Colour
) -> None:
    """Columns of labelled blocks on a floor. A block keeps its colour, and a column its place if there is room."""
    left, _, right, bottom = area
    blocks = len(names) - 1
    kept = _kept(blocks, area)
    slots, pitch = blocks if kept else len(columns), side * SPACING
    start = (left + right - slots * pitch) / 2 + (pitch - side) / 2
    for place, column in enumerate(columns):
        x = start + (column[0] - 1 if kept else place) * pitch
        for level, block in enumerate(column):
            y = bottom - (level + 1) * side
            gap = side * 0.03
            canvas.block((x, y + gap, x + side, y + side - gap), _pastel(block), side * 0.16, _darker(_pastel(block)))
            canvas.text(x + side / 2, y + side / 2, names[block], side * 0.45)
    canvas.line([(left, bottom + 2), (right, bottom + 2)], floor, 3)


def _draw_bars(canvas: _Canvas, values: list[int], area: Box) -> None:
    """Bars as high as their numbers; those at their place are green."""
    left, top, right, bottom = area
    labelled = len(values) <= 30
    bottom -= 22 if labelled else 0
    pitch = min((right - left) / len(values), 72.0)
    start = (left + right - len(values) * pitch) / 2
    for place, value in enumerate(values):
        height = (bottom - top) * (value + 1) / len(values)
        x = start + place * pitch
        colour = (134, 199, 163) if value == place else (150, 176, 220)
        canvas.block((x + pitch * 0.1, bottom - height, x + pitch * 0.9, bottom), colour, pitch * 0.1, _darker(colour))
        if labelled:
            canvas.text(x + pitch / 2, bottom + 14, str(value), min(16.0, pitch * 0.6))
    canvas.line([(left, bottom + 1), (right, bottom + 1)], FAINT, 2)


def _draw_graph(canvas: _Canvas, state: PathState, index: int, area: Box) -> None:
    """The nodes where they were drawn, the walker's in blue and the target in green."""
    left, top, right, bottom = area
    nodes = state.adjacent.shape[1]
    radius = 15.0 if nodes <= 20 else 10.0
    points = state.points[index]
    low, high = points.min(axis=0), points.max(axis=0)
    unit = (points - low) / np.maximum(high - low, 1e-9)
    xs = left + radius + unit[:, 0] * (right - left - 2 * radius)
    ys = top + radius + unit[:, 1] * (bottom - top - 2 * radius)
    for first, second in np.argwhere(np.triu(state.adjacent[index])):
        canvas.line([(xs[first], ys[first]), (xs[second], ys[second])], LINE, 2 if nodes <= 20 else 1.2)
    marks = {int(state.target[index]): GOAL, int(state.here[index]): HERE}
    for node in range(nodes):
        colour = marks.get(node, (255, 255, 255))
        canvas.disc(xs[node], ys[node], radius, colour, _darker(marks.get(node, LINE)))
        canvas.text(xs[node], ys[node], str(node), radius * 0.9, (255, 255, 255) if node in marks else INK)


def _pastel(number: int) -> Colour:
    """A light colour that neighbours in number do not share: the hue goes round by the golden ratio."""
    red, green, blue = colorsys.hls_to_rgb(number * 0.618034 % 1.0, 0.78, 0.62)
    return round(red * 255), round(green * 255), round(blue * 255)


def _darker(colour: Colour) -> Colour:
    red, green, blue = (round(channel * 0.75) for channel in colour)
    return red, green, blue
