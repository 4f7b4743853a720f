"""Finding out which mechanisms a task speaks of, so that nobody has to type them."""

from __future__ import annotations

import copy

from parlai.core.opt import Opt
from parlai.core.teachers import create_task_agent_from_taskname

from parlai_empathy.errors import OptionError
from parlai_empathy.tasks.epitome.mechanisms import MECHANISMS


def bring_mechanisms(opt: Opt) -> None:
    """Put the training task's mechanisms into ``opt`` where ``--mechanisms`` names none; ParlAI saves them there.

    :raises OptionError: if there is no task to ask, or if it does not speak of any.
    """
    if opt.get("mechanisms"):
        return
    if not opt.get("task") or opt.get("interactive_mode"):
        raise OptionError("this judge does not know its mechanisms: train it on empathy:epitome, or name --mechanisms")
    found = _of_task(opt)
    if not found:
        raise OptionError(f"--task {opt['task']}: its messages have no levels of empathy; train on empathy:epitome")
    opt["mechanisms"] = [name for name in MECHANISMS if name in found]


def _of_task(opt: Opt) -> set[str]:
    opt = copy.deepcopy(opt)
    # Not train:evalmode, of which several processes would each get only a share.
    opt.update(datatype="train:ordered", batchsize=1, interactive_task=False, selfchat_task=False)
    names = set()
    for task in opt["task"].split(","):  # of several ParlAI would make one teacher, which mixes their messages
        opt["task"] = task.strip()
        names |= {
            name for teacher in create_task_agent_from_taskname(opt) for name in teacher.act().get("levels") or ()
        }
    return names
