"""Starting from another model, ``--init-model``: checking it, and copying the options that its weights need."""

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


def is_resumed(opt: Mapping[str, Any]) -> bool:
    """Whether ``--init-model`` is this training's own checkpoint: ParlAI sets it so until a first model is saved."""
    return str(opt.get("init_model") or "").endswith(".checkpoint")


def check_init_model(opt: Mapping[str, Any], found: str | None, family: type) -> None:
    """Raise :class:`ModelFileError` if ``--init-model`` is missing, or holds weights of another kind of agent.

    ParlAI would ignore a missing file, and load another agent's options.

    :param found: the file that ParlAI found to start from: ``--init-model``, or the model file itself.
    :param family: the class that its agent must be of.
    """
    if opt.get("init_model") and not found:
        raise ModelFileError(f"--init-model {opt['init_model']}: there is no such file")
    if found and is_file(found) and is_file(f"{found}.opt"):  # published models of others have no .opt file
        theirs = model_options(found)
        if not issubclass(agent_class(theirs, f"{found}.opt"), family):
            raise ModelFileError(
                f"{found} is a model of {theirs['model']}, whose weights do not fit {opt['model']}: name another "
                f"file, or -m {theirs['model']}"
            )


def check_own_option(opt: Mapping[str, Any], name: str) -> None:
    """Raise :class:`OptionError` if the command line gives a trained model other names of its outputs than its own.

    The outputs keep their order, so in another order the names would be wrong, and nothing would show it.

    :param name: the option that holds the names.
    """
    path, typed = opt.get("model_file"), opt.get("override") or {}
    if not (path and name in typed and is_file(path) and is_file(f"{path}.opt")):
        return
    own = Opt.load(f"{path}.opt").get(name)
    if own and list(typed[name]) != own:
        raise OptionError(
            f"{flag(name)} {' '.join(typed[name])}: {path} was trained with {' '.join(own)}; leave {flag(name)} out"
        )


def copy_options(opt: Opt, theirs: Mapping[str, Any], source: str) -> None:
    """Set options to the values of the model that this one is built on, so that users need not type them again.

    :param source: that model's option and file, for errors.
    :raises OptionError: if the command line gives another value, which in later commands would override the model's.
    """
    typed = opt.get("override") or {}
    for name, value in theirs.items():
        if typed.get(name, value) != value:
            raise OptionError(f"{flag(name)} {typed[name]}: {source} has {value}; leave {flag(name)} out")
        opt[name] = value


def keep_options(opt: Opt, names: Iterable[str], tokens: Collection[str] = ()) -> None:
    """Copy options from the model of ``--init-model``.

    A checkpoint that training resumes from also counts: until the training has saved a model, only the checkpoint's
    options record what was copied from the initial model.

    :param names: options that a value on the command line overrides.
    :param tokens: options that define tokenization. The dictionary is the other model's, so its values must be used.
    :raises OptionError: if the command line gives another tokenization.
    """
    path, model_file = opt.get("init_model"), opt.get("model_file")
    if not path or (model_file and Path(model_file).is_file()) or not Path(f"{path}.opt").is_file():
        return
    theirs, typed = Opt.load(f"{path}.opt"), opt.get("override") or {}
    source = f"--init-model {path}"
    for name in (*tokens, *(name for name in names if name not in typed)):
        if name in theirs and theirs[name] != opt.get(name):
            copy_options(opt, {name: theirs[name]}, source)
            logging.info(f"{flag(name)} {theirs[name]}: taken from {source}")


def known_choices(known: Mapping[str, Any], tokens: Iterable[str]) -> dict[str, Any]:
    """Return the options that are known before an agent's own are parsed, with the tokenization of ``--init-model``.

    So an option that selects a pretrained model also brings its defaults, such as a learning rate that suits it.

    :param known: the options that ParlAI knows already.
    :param tokens: options that define tokenization.
    :raises ModelFileError: if the other model's options cannot be read.
    """
    path = known.get("init_model")
    theirs = model_options(path) if path and is_file(path) and is_file(f"{path}.opt") else {}
    if not theirs.keys() >= set(tokens):  # a model of another kind, which the agent refuses
        return dict(known)
    return {**known, **{name: theirs[name] for name in tokens if theirs[name] is not None}}


def keep_dictionary(dictionary: DictionaryAgent, opt: Mapping[str, Any]) -> None:
    """Save the dictionary of ``--init-model`` beside the new model, where ParlAI has built one from the new task."""
    if opt.get("model_file") and is_primary_worker():
        dictionary.save(f"{opt['model_file']}.dict", sort=False)


def init_weights(model: nn.Module, weights: Mapping[str, Tensor], path: str) -> None:
    """Initialise a model with another's weights; a head that is left out, or of another size, stays new.

    :param model: its last layer is named ``head``.
    :param path: the file of the weights, for errors.
    :raises ModelFileError: if anything but the head does not fit.
    """
    own = model.state_dict()
    unfit = {name for name in {*weights, *own} if not _fits(name, weights, own)}
    if strange := {name for name in unfit if not (name.startswith("head.") and name in own)}:
        raise ModelFileError(f"--init-model {path} is another kind of model: {min(strange)} does not fit")
    if unfit:
        logging.info(f"{path}: its head has other outputs and is replaced by a new one")
        weights = {name: own[name] if name.startswith("head.") else weights[name] for name in own}
    model.load_state_dict(weights)


def _fits(name: str, weights: Mapping[str, Tensor], own: Mapping[str, Tensor]) -> bool:
    return name in weights and name in own and weights[name].shape == own[name].shape
