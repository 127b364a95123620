"""What a user asks of a run that learns a policy, in one validated value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

from dlm.errors import SettingsError
from dlm.runs.extras import missing_torch
from dlm.runs.settings import RunSettings
from dlm.space.settings import require_flag

__all__ = [
    "METHODS",
    "MODELS",
    "NLRL_WORLDS",
    "POLICY_LEARNERS",
    "STACKED",
    "TAUGHT",
    "ModelName",
    "PolicyLearnerName",
    "PolicyRunSettings",
]

PolicyLearnerName = Literal["auto", "ppo", "reinforce", "imitation", "search", "nlrl", "dlm-incr-sl", "dlm-incr-rl"]
POLICY_LEARNERS: tuple[str, ...] = get_args(PolicyLearnerName)

ModelName = Literal["dlm", "list", "nlm", "unviewed", "joined"]
MODELS: tuple[str, ...] = get_args(ModelName)
PROGRAMLESS = ("nlm", "joined")
"""The models that stay soft."""

NLRL_WORLDS = ("rl/unstack", "rl/stack", "rl/on", "rl/sorting")
"""Those that the learner `nlrl` has templates for."""

TAUGHT = ("imitation", "dlm-incr-sl")
"""The learners that have a teacher."""
STACKED = ("dlm-incr-sl", "dlm-incr-rl")
"""Those that train machine after machine, the paper's incremental training."""
SOFT = ("ppo", "reinforce")
"""The learners that have a soft policy to keep, and may repair programs."""

METHODS = {
    "search": "planning on small instances and rule search, not reinforcement learning",
    "ppo": "reinforcement learning by policy gradient (PPO)",
    "reinforce": "reinforcement learning by policy gradient (REINFORCE)",
    "ppo+repair": "policy gradient (PPO), and a local search over programs that changed or completed what it learned",
    "reinforce+repair": "policy gradient (REINFORCE), and a local search over programs that changed or completed "
    "what it learned",
    "ppo+rollouts": "policy gradient (PPO), and then policy iteration by rollouts of the soft policy",
    "reinforce+rollouts": "policy gradient (REINFORCE), and then policy iteration by rollouts of the soft policy",
    "ppo (nlm)": "reinforcement learning by policy gradient (PPO) of a neural logic machine (a baseline without "
    "program)",
    "reinforce (nlm)": "reinforcement learning by policy gradient (REINFORCE) of a neural logic machine (a baseline "
    "without program)",
    "ppo (list)": "reinforcement learning by policy gradient (PPO) of lists of rules, each rule a machine of its own "
    "and each list before the best program so far",
    "reinforce (list)": "reinforcement learning by policy gradient (REINFORCE) of lists of rules, each rule a machine "
    "of its own and each list before the best program so far",
    "ppo (unviewed)": "reinforcement learning by policy gradient (PPO) on what is observed, without the domain's view",
    "ppo (joined)": "reinforcement learning by policy gradient (PPO) of the paper's model for Blocksworld, joined at "
    "its output (without program)",
    "nlrl": "reinforcement learning by policy gradient over weighted clauses (NLRL, a baseline)",
    "dlm-incr-sl": "a stack of machines trained by gradient on a teacher's labels (DLM+incr (SL)), not reinforcement "
    "learning",
    "dlm-incr-rl": "a stack of machines trained by policy gradient (DLM+incr, PPO)",
    "imitation": "imitation of a teacher by rule search on the states that it labels, not reinforcement learning",
}


@dataclass(frozen=True, kw_only=True)
class PolicyRunSettings(RunSettings):
    """The settings of one run, saved beside it."""

    kind: ClassVar[str] = "policy"
    learners: ClassVar[tuple[str, ...]] = POLICY_LEARNERS

    learner: str = field(
        default="auto", metadata={"help": "Who learns: auto begins with search and goes on with ppo if need be."}
    )
    time_limit: float = field(default=900.0, metadata={"help": "Seconds of wall time after which the run ends."})
    keep_soft: bool = field(
        default=False, metadata={"help": "Train the soft policy alone, as the paper's nIDLM, and report its returns."}
    )
    model: ModelName = field(
        default="dlm",
        metadata={
            "help": "What ppo and reinforce train: the logic machine dlm; three of them as a list of rules (list), "
            "in phases as dlm-incr-rl unless it stays soft; the "
            "logic machine on what is observed, without the "
            "view of Blocksworld (unviewed), and with the two copies of a block joined at the output (joined); or the "
            "baseline nlm. The last two stay soft."
        },
    )
    rollouts: bool = field(
        default=False,
        metadata={
            "help": "With --keep-soft: once the policy succeeds, go on by policy iteration, which tries each action of "
            "a state and rolls out the policy after it."
        },
    )
    teacher: str | None = field(default=None, metadata={"help": "Whom imitation and dlm-incr-sl imitate."})
    repair: bool = field(
        default=True, metadata={"help": "Let ppo mend programs by local search and complete them by one another."}
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("keep_soft", "repair", "rollouts"):
            require_flag(name, getattr(self, name))
        if self.keep_soft and self.learner not in ("auto", *SOFT):
            raise SettingsError(
                f"the {self.learner} learner has no soft policy to keep; use --learner ppo or reinforce"
            )
        if self.model not in MODELS:
            raise SettingsError(f"The 'model' setting must be one of {', '.join(MODELS)}. Got {self.model!r} instead.")
        if self.model in PROGRAMLESS and not (self.keep_soft and self.learner in SOFT):
            raise SettingsError(
                f"no program is read off the model {self.model}: --model {self.model} is for --learner ppo or "
                "reinforce with --keep-soft"
            )
        if self.model == "unviewed" and self.learner not in SOFT:
            raise SettingsError("--model unviewed is for --learner ppo or reinforce")
        if self.model == "list" and not (self.learner in SOFT and (self.keep_soft or not self.repair)):
            raise SettingsError(
                "--model list is for --learner ppo or reinforce with --no-repair: local search mends single machines"
            )
        if self.rollouts and not self.keep_soft:
            raise SettingsError("--rollouts is for soft policies: add --keep-soft")
        if self.rollouts and self.schedule == "paper":
            raise SettingsError("the paper's schedule has no policy iteration: --rollouts is for the schedule fast")
        if self.teacher is not None and self.learner not in TAUGHT:
            raise SettingsError(
                f"the learner {self.learner!r} has no teacher; use --learner {' or '.join(TAUGHT)} with --teacher"
            )
        if not self.repair and self.learner not in ("auto", *SOFT):
            raise SettingsError(f"the learner {self.learner!r} repairs no programs; --no-repair is for --learner ppo")
        if self.incremental and self.learner != "imitation":
            raise SettingsError(
                f"the learner {self.learner!r} of policies does not learn in phases by --incremental, which is for "
                "--learner imitation; the paper's stack of machines is --learner dlm-incr-sl or dlm-incr-rl"
            )
        trained = self.machine is not None or self.schedule != "fast"
        if trained and self.learner in ("search", "imitation", "nlrl"):
            raise SettingsError(
                f"the learner {self.learner!r} of policies trains no machine: settings of machines and schedules are "
                "for --learner ppo, reinforce, dlm-incr-sl, dlm-incr-rl or auto"
            )

    @property
    def turns(self) -> tuple[str, ...]:
        """The learners that have a turn, one after the other until a policy is verified."""
        if self.learner != "auto":
            return (self.learner,)
        if self.keep_soft or self.machine is not None or self.schedule != "fast":
            return ("ppo",)  # what was asked for is about machines
        return ("search",) if missing_torch("ppo") else ("search", "ppo")
