"""What the paper reports, as data: Zimmer et al., Differentiable Logic Machines, TMLR 2023.

Success rates and PSS (percentage of successful seeds) are in percent, times in seconds, memory in megabytes.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "ABLATION",
    "COST",
    "ILP",
    "ILP_COLUMNS",
    "LITERALS",
    "NO_PROGRAM",
    "OUT_OF_MEMORY",
    "RL",
    "RL_COLUMNS",
    "Published",
    "Success",
    "FIVE_STARTS",
]

OUT_OF_MEMORY = "N/A"
NO_PROGRAM = "-"
"""No working program could be extracted."""

FIVE_STARTS = "mean of the five starts"


@dataclass(frozen=True)
class Success:
    """Success rates at the training size m and the large one M, their spreads over seeds, and the PSS."""

    train: float | None
    large: float | None
    seeds: float | None
    train_spread: float | None = None
    large_spread: float | None = None


@dataclass(frozen=True)
class Published:
    """A mean return of the best seed and its spread."""

    mean: float
    spread: float


ALL, ALWAYS = Success(100, 100, 100), Success(100, 100, 100, 0, 0)
UNCOUNTED = Success(100, 100, None)

ILP_COLUMNS = ("dNL-ILP", "dILP", "NLM", "DLM")
ILP: dict[str, tuple[Success, Success, Success, Success]] = {
    # Table 4 (appendix), columns as in ILP_COLUMNS. None: out of memory, or of dILP's seeds, not published.
    "family/has-father": (ALL, UNCOUNTED, ALL, ALWAYS),
    "family/has-sister": (Success(100, 100, 40), UNCOUNTED, ALL, ALWAYS),
    "family/is-grandparent": (Success(100, 100, 80), UNCOUNTED, ALL, ALWAYS),
    "family/is-uncle": (Success(97.32, 96.77, 0), UNCOUNTED, Success(100, 100, 90), ALWAYS),
    "family/is-mguncle": (Success(99.09, None, 0), UNCOUNTED, Success(100, 100, 20), Success(100, 100, 70, 0.01, 0.08)),
    "graph/adjacent-to-red": (ALL, UNCOUNTED, Success(100, 100, 90), Success(100, 100, 90, 0.02, 0.01)),
    "graph/4-connectivity": (Success(91.36, 85.30, 0), UNCOUNTED, ALL, ALWAYS),
    "graph/6-connectivity": (Success(92.80, None, 0), UNCOUNTED, Success(100, 100, 60), Success(100, 100, 90, 0, 0)),
    "graph/1-outdegree": (Success(82.00, 78.44, 0), UNCOUNTED, ALL, ALWAYS),
    "graph/2-outdegree": (Success(83.39, 8.24, 0), Success(None, None, None), ALL, ALWAYS),
}

LITERALS = {
    # atoms in the paper's own definition of each target (appendix)
    "family/has-father": 1,
    "family/has-sister": 3,
    "family/is-grandparent": 4,
    "family/is-uncle": 8,
    "family/is-mguncle": 10,
    "graph/adjacent-to-red": 2,
    "graph/4-connectivity": 8,
    "graph/6-connectivity": 13,
    "graph/1-outdegree": 2,
    "graph/2-outdegree": 3,
}

RL_COLUMNS = ("NLRL", "NLM", "nIDLM", "DLM", "DLM+incr", "DLM+incr (SL)")


def _row(*figures: str) -> tuple[Published | str, ...]:
    """Figures such as ``.914 .01``, or a sign."""
    return tuple(Published(*map(float, text.split())) if " " in text else text for text in figures)


RL: dict[tuple[str, str], tuple[Published | str, ...]] = {
    # Table 1: average rewards for the best seed, columns as in RL_COLUMNS
    ("rl/unstack", FIVE_STARTS): _row(".914 .01", *[".920 0"] * 5),
    ("rl/stack", FIVE_STARTS): _row(".877 .09", *[".920 0"] * 5),
    ("rl/on", FIVE_STARTS): _row(".885 .01", *[".896 0"] * 5),
    ("rl/sorting", "10 numbers"): _row(".866 .1", *[".939 .02"] * 5),
    ("rl/sorting", "50 numbers"): _row("N/A", *[".556 .02"] * 2, *[".559 .02"] * 3),
    ("rl/path", "10 nodes"): _row("N/A", ".970 0", ".970 0", "-", ".319 .2", ".970 0"),
    ("rl/path", "50 nodes"): _row("N/A", ".970 0", ".970 0", "-", "-.004 .4", ".970 0"),
    ("rl/blocksworld", "10 blocks"): _row("N/A", ".888 .02", ".904 .02", "-", "-", ".894 .02"),
    ("rl/blocksworld", "50 blocks"): _row("N/A", ".153 .04", ".159 .11", "-", "-", ".230 .04"),
}

ABLATION: dict[str, tuple[float, float, float]] = {
    # Table 2: average PSS, average success rate and its spread, 5 seeds on the ten ILP tasks
    "softmax": (58, 97.3, 6.1),
    "constant-noise": (68, 97.7, 9.3),
    "no-dropout": (70, 99.3, 1.6),
    "gaussian": (80, 99.7, 0.8),
    "dlm": (95, 99.8, 0.7),
}

COST: dict[str, dict[str, dict[int, tuple[int, int]]]] = {
    # Table 5: seconds and megabytes; 0 objects stand for the whole training. On a GPU (GTX 1080 Ti).
    "family/is-grandparent": {
        "dNL-ILP": {
            0: (201, 30), 10: (1, 27), 20: (1, 30), 30: (5, 42), 40: (13, 99), 50: (31, 198), 60: (65, 358),
            70: (119, 596), 80: (192, 932), 90: (303, 1390), 100: (464, 1994), 110: (656, 2771), 120: (915, 3751),
            130: (1247, 4964),
        },
        "NLM": {
            0: (1357, 70), 10: (4, 24), 20: (4, 70), 30: (5, 188), 40: (5, 414), 50: (7, 820), 60: (8, 1341),
            70: (8, 2089), 80: (11, 3123), 90: (13, 4434), 100: (17, 6093), 110: (21, 8079), 120: (27, 10056),
        },
        "DLM": {
            0: (1629, 382), 10: (1, 2), 20: (1, 24), 30: (1, 24), 40: (2, 74), 50: (3, 124), 60: (3, 226),
            70: (4, 344), 80: (6, 500), 90: (8, 724), 100: (10, 1002), 110: (13, 1321), 120: (16, 1710),
            130: (19, 2161),
        },
    },
    "graph/2-outdegree": {
        "dNL-ILP": {
            0: (966, 22), 5: (1, 22), 10: (1, 22), 15: (3, 42), 20: (9, 112), 25: (24, 314), 30: (47, 682),
            35: (93, 1332),
        },
        "NLM": {0: (2522, 844), 5: (3, 78), 10: (6, 844), 15: (9, 4342)},
        "DLM": {
            0: (3238, 1372), 5: (2, 4), 10: (2, 40), 15: (3, 254), 20: (5, 732), 25: (10, 1751), 30: (19, 3594),
            35: (33, 6666),
        },
    },
}  # fmt: skip
