"""An episode as one picture: its frames side by side, each with the action that led to it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dlm.errors import MissingExtraError

__all__ = ["draw_strip", "key_frames"]

COLUMNS, FRAMES = 3, 6
SCALE, CAPTION, GAP = 0.65, 30, 8
COLOURS = 96
PAPER, INK = (255, 255, 255), (44, 47, 54)


def draw_strip(frames: Sequence[Path], actions: Sequence[str], path: Path) -> None:
    """Write the strip. `frames` are those of an episode's states, one more than its actions."""
    if find_spec("PIL") is None:
        raise MissingExtraError("pillow", "rl", "drawing an episode")
    from PIL import Image, ImageDraw, ImageFont

    chosen = key_frames([frame.read_bytes() for frame in frames])
    pictures = [_open(frames[number]) for number in chosen]
    width, height = (round(side * SCALE) for side in pictures[0].size)
    columns = min(COLUMNS, len(chosen))
    rows = -(-len(chosen) // columns)
    size = columns * (width + GAP) - GAP, rows * (height + CAPTION)
    strip = Image.new("RGB", size, PAPER)
    pen, font = ImageDraw.Draw(strip), ImageFont.load_default(size=15)
    for place, (number, picture) in enumerate(zip(chosen, pictures, strict=True)):
        x, y = place % columns * (width + GAP), place // columns * (height + CAPTION)
        strip.paste(picture.resize((width, height), Image.Resampling.LANCZOS), (x, y + CAPTION))
        words = "start" if number == 0 else f"step {number}: {actions[number - 1]}"
        pen.text((x + 4, y + CAPTION / 2), words, fill=INK, font=font, anchor="lm")
    # Few colours make a small file, and the frames have few.
    strip.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


def _open(path: Path) -> Any:
    from PIL import Image

    with Image.open(path) as picture:
        return picture.convert("RGB")


def key_frames(frames: Sequence[bytes]) -> list[int]:
    """The frames to show: the first, the last, some between; none that looks like the one before it."""
    different = [number for number, frame in enumerate(frames) if number == 0 or frame != frames[number - 1]]
    count = min(FRAMES, len(different))
    if count == 1:
        return different
    return [different[round(place * (len(different) - 1) / (count - 1))] for place in range(count)]
