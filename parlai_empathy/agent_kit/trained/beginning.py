"""Beginning with another model, ``--init-model``: it has to be there, and brings what its weights need."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import parlai.utils.logging as logging
from parlai.core.dict import DictionaryAgent
from parlai.core.opt import Opt
from parlai.utils.distributed import is_primary_worker
from torch import Tensor, nn

from parlai_empathy.agent_kit.options.common import flag
from parlai_empathy.agent_kit.trained.agent import agent_class, model_options
from parlai_empathy.errors import ModelFileError, OptionError
from parlai_empathy.files.text_file import is_file


def goes_on(opt: Mapping[str, Any]) -> bool:
    """Whether ``--init-model`` is the checkpoint of this very training: ParlAI puts it there before the first model."""
    return str(opt.get("init_model") or "").endswith(".checkpoint")


def check_init_model(opt: Mapping[str, Any], found: str | None, family: type) -> None:
    """Raise :class:`ModelFileError` for an ``--init-model`` that is not there, or weights of another kind of agent.

    ParlAI would begin without the one, and with options of the other.

    :param found: the file that ParlAI found to begin with: ``--init-model``, or the model file itself.
    :param family: what its agent has to be.
    """
    if opt.get("init_model") and not found:
        raise ModelFileError(f"--init-model {opt['init_model']}: there is no such file")
    if found and is_file(found) and is_file(f"{found}.opt"):  # what others have published has no options beside it
        theirs = model_options(found)
        if not issubclass(agent_class(theirs, f"{found}.opt"), family):
            raise ModelFileError(
                f"{found} is a model of {theirs['model']}, whose weights {opt['model']} has no place for: name another "
                f"file, or -m {theirs['model']}"
            )


def take_over(opt: Opt, theirs: Mapping[str, Any], source: str) -> None:
    """Make options those of what a model is made from: nobody has to type them again.

    :param source: what has them: its option and its file.
    :raises OptionError: if the command line says otherwise: each later command with this model would, too.
    """
    typed = opt.get("override") or {}
    for name, value in theirs.items():
        if typed.get(name, value) != value:
            raise OptionError(f"{flag(name)} {typed[name]}: {source} has {value}; leave {flag(name)} out")
        opt[name] = value


def keep_options(opt: Opt, names: Iterable[str], tokens: Collection[str] = ()) -> None:
    """Take options of a model from that of ``--init-model``.

    A checkpoint that a training goes on from counts as one: until the training has saved a model, only the checkpoint's
    options say what was taken over from the file that it began with.

    :param names: of those that a value on the command line beats.
    :param tokens: of those that make tokens of texts. The dictionary is the other model's, whatever is typed.
    """
    path, model_file = opt.get("init_model"), opt.get("model_file")
    if not path or (model_file and Path(model_file).is_file()) or not Path(f"{path}.opt").is_file():
        return
    theirs, typed = Opt.load(f"{path}.opt"), opt.get("override") or {}
    for name in (*tokens, *(name for name in names if name not in typed)):
        if name in theirs and theirs[name] != opt.get(name):
            logging.info(f"{flag(name)} {theirs[name]}: as --init-model {path} has it")
            opt[name] = theirs[name]
            if name in typed:  # ParlAI would put it over the trained model's own
                typed[name] = theirs[name]


def keep_dictionary(dictionary: DictionaryAgent, opt: Mapping[str, Any]) -> None:
    """Write the dictionary of ``--init-model``: ParlAI has built one of the new task's words beside the new model."""
    if opt.get("model_file") and is_primary_worker():
        dictionary.save(f"{opt['model_file']}.dict", sort=False)


def begin_with(model: nn.Module, weights: Mapping[str, Tensor], path: str) -> None:
    """Let a model begin with another's weights, all but a head of another size, which stays new as a whole.

    :param model: what comes last in it is called ``head``.
    :param path: where the weights are from, for errors.
    :raises ModelFileError: if anything but the head does not fit.
    """
    own = model.state_dict()
    other = {name for name in weights if name in own and weights[name].shape != own[name].shape}
    missing_or_strange = set(weights) ^ set(own)
    if unfit := missing_or_strange | {name for name in other if not name.startswith("head.")}:
        raise ModelFileError(f"--init-model {path} is another kind of model: {min(unfit)} does not fit")
    if other:
        logging.info(f"{path}: its head is of another size, and a new one takes its place")
        weights = {name: own[name] if name.startswith("head.") else weights[name] for name in own}
    model.load_state_dict(weights)
