"""One clear line for a missing option or file of options, and for an unknown one in such a file or after a task."""

from __future__ import annotations

import functools
from typing import Any

from parlai_empathy.errors import OptionError

_NO_TASK = "--task is missing: name the data, such as -t empathy:empathetic_dialogues"
_OF_COMMANDS = {"metrics", "seed"}  # options of some commands that teachers use too


def report_missing_task(worlds: Any) -> None:
    """Check for ``--task`` where a task's examples are read."""
    make = worlds.create_task

    @functools.wraps(make)
    def create_task(opt: Any, *args: Any, **kwargs: Any) -> Any:
        if not opt.get("task"):
            raise OptionError(_NO_TASK)
        return make(opt, *args, **kwargs)

    worlds.create_task = create_task


def check_evaluation(eval_model: Any) -> None:
    """Check an evaluation's ``--task``, whose name it splits before it reads examples, and its ``--datatype``."""
    evaluate = eval_model.eval_model

    @functools.wraps(evaluate)
    def evaluate_task(opt: Any) -> Any:
        if not opt.get("task"):
            raise OptionError(_NO_TASK)
        if "train" in opt["datatype"] and "evalmode" not in opt["datatype"]:
            raise OptionError(
                f"--datatype {opt['datatype']}: it is for training; to evaluate on the training data, use "
                "train:evalmode"
            )
        return evaluate(opt)

    eval_model.eval_model = evaluate_task


def check_self_chat(self_chat: Any) -> None:
    """Check before a self-chat that it has no batches, which ParlAI asserts once it has begun."""
    chat = self_chat.self_chat

    @functools.wraps(chat)
    def one_at_a_time(opt: Any) -> Any:
        if opt.get("batchsize", 1) != 1:
            raise OptionError(
                f"--batchsize {opt['batchsize']}: self_chat has one conversation at a time; leave it out, and use "
                "--num-self-chats for more"
            )
        return chat(opt)

    self_chat.self_chat = one_at_a_time


def report_missing_model(agents: Any) -> None:
    """Check for ``--model`` or ``--model-file`` where an agent is created."""
    make = agents.create_agent

    @functools.wraps(make)
    def create_agent(opt: Any, *args: Any, **kwargs: Any) -> Any:
        if not (opt.get("model") or opt.get("model_file")):
            raise OptionError(
                "--model is missing: name an agent, such as -m empathy:retrieval, or a trained model with -mf"
            )
        return make(opt, *args, **kwargs)

    agents.create_agent = create_agent


def report_missing_file(opt_module: Any) -> None:
    """Name a missing file of ``--init-opt``; ParlAI has already looked for a preset of that name."""
    load = opt_module.Opt.load_init.__func__

    @functools.wraps(load)
    def load_init(cls: Any, optfile: str) -> Any:
        try:
            return load(cls, optfile)
        except FileNotFoundError as error:
            raise OptionError(f"--init-opt {optfile}: there is no such file: name a JSON file of options") from error

    opt_module.Opt.load_init = classmethod(load_init)


def report_unknown_in_file(params: Any) -> None:
    """Name an unknown option in a file of ``--init-opt``: a saved model's ``.opt`` has some that no command takes."""
    load = params.ParlaiParser._load_opts

    @functools.wraps(load)
    def _load_opts(self: Any, opt: Any) -> None:
        try:
            load(self, opt)
        except RuntimeError as error:
            name = str(error).rpartition(": ")[2]
            raise OptionError(
                f"--init-opt {opt['init_opt']}: this command has no option {name}: remove it from the file, or add "
                "--allow-missing-init-opts true"
            ) from error

    params.ParlaiParser._load_opts = _load_opts


def report_unknown_mutator(mutators: Any) -> None:
    """Name an unknown mutator of ``--mutators``, and list those there are."""
    load = mutators.Mutator.load_mutator_types.__func__

    @functools.wraps(load)
    def load_mutator_types(cls: Any, mutator_names: str | None) -> Any:
        try:
            return load(cls, mutator_names)
        except KeyError as error:
            there_are = ", ".join(sorted(mutators.MUTATOR_REGISTRY))
            raise OptionError(
                f"--mutators {mutator_names}: there is no mutator {error.args[0]}; there are {there_are}"
            ) from error

    mutators.Mutator.load_mutator_types = classmethod(load_mutator_types)


def report_unknown_after_task(teachers: Any) -> None:
    """Name what ParlAI ignores after a task of this package: an unknown option, ``-t empathy:reddit:histroy=1``, or a
    teacher that does not follow the task directly, ``-t empathy:red:edition=sample:Test``.
    """
    add_flags = teachers._add_task_flags_to_agent_opt

    @functools.wraps(add_flags)
    def _add_task_flags_to_agent_opt(agent: Any, opt: Any, flags: str) -> None:
        add_flags(agent, opt, flags)
        if getattr(agent, "__module__", "").startswith("parlai_empathy."):
            _, *after = flags.removeprefix("empathy:").split(":")
            if strange := [part for part in after[1:] if part and "=" not in part]:
                raise OptionError(
                    f"-t {flags}: {strange[0]} is neither the teacher, which follows the task directly, nor an option, "
                    "which is written name=value"
                )
            _check_known([part.partition("=")[0].replace("-", "_") for part in after if "=" in part], agent, opt, flags)

    teachers._add_task_flags_to_agent_opt = _add_task_flags_to_agent_opt


def _check_known(names: list[str], teacher: Any, opt: Any, task: str) -> None:
    """Raise :class:`OptionError` unless the teacher uses all names: its options, its mutators', those of all commands.

    The options in ``opt`` are more: also those of the command, the agent, and the other tasks of a union.
    """
    from parlai.core.mutators import Mutator
    from parlai.core.params import ParlaiParser

    def options_of(*owners: Any, everywhere: bool = False) -> set[str]:
        parser = ParlaiParser(everywhere, False)
        for owner in owners:
            owner.add_cmdline_args(parser, opt)
        return {action.dest for action in parser._actions} - {"help"}

    own = options_of(teacher)
    known = own | options_of(*Mutator.load_mutator_types(opt.get("mutators")), everywhere=True) | _OF_COMMANDS
    if strange := [name for name in names if name not in known]:
        raise OptionError(f"-t {task}: there is no option {strange[0]}; the task has {', '.join(sorted(own))}")
