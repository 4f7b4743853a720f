"""Implementation of ``parlai chat_site``: serves the page, or exports conversations, marks and ratings."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import parlai.utils.logging as logging
from parlai.core.agents import create_agent
from parlai.core.opt import Opt

from parlai_empathy.agent_kit.trained.agent import loading
from parlai_empathy.errors import OptionError
from parlai_empathy.rating import chat
from parlai_empathy.rating.chat.partner import Partner
from parlai_empathy.rating.chat.replies import Emotions, Replies
from parlai_empathy.rating.chat.settings import ChatSettings
from parlai_empathy.rating.chat.site import chat_site
from parlai_empathy.rating.chat.talks_file import talks_path, write_talks
from parlai_empathy.rating.chat_models import load_chat_models
from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.desk.registration import check_version
from parlai_empathy.rating.export import write_export
from parlai_empathy.rating.site.admin_access import admin_token
from parlai_empathy.rating.storage.store import open_store
from parlai_empathy.rating.study.study import Study
from parlai_empathy.rating.study.study_file import read_study
from parlai_empathy.rating.web.requirements import check_installed
from parlai_empathy.rating.web.secret import site_secret
from parlai_empathy.rating.web.serving import check_address, serve
from parlai_empathy.rating.wording import counted
from parlai_empathy.scoring.classifier import Classifier
from parlai_empathy.scoring.names import judge_name
from parlai_empathy.scripts.parts.distress_options import notice_of
from parlai_empathy.scripts.parts.named_files import by_name
from parlai_empathy.scripts.parts.study_options import address_of, announce, id_parameter_of

_FREE = Path(chat.__file__).with_name("free.yaml")


def run(opt: Opt) -> None:
    """Serve until stopped, or export. Loading a model takes long: whatever else can be wrong is checked before."""
    notice = notice_of(opt)
    study = _study(opt)
    if opt["export"]:
        _export(opt, study)
        return
    check_installed()
    _check_counts(opt)
    check_address(address_of(opt))
    settings = ChatSettings(notice, opt["longest_message"], id_parameter=id_parameter_of(opt))
    token, secret = admin_token(), site_secret(opt["store"])
    with closing(open_store(opt["store"])) as store:
        check_version(store, study, opt["new_version"])
        emotions = _emotions(opt)  # first, since it loads sooner than most models that reply
        partners = _partners(opt, study)
        desk = Desk(store, study, new_version=opt["new_version"])  # changes the store, so the models must be in order
        with closing(Replies(desk, partners, emotions, opt["workers"])) as replies:
            site = chat_site(desk, replies, secret, settings, token=token)
            if notice is None:
                logging.warning(
                    "--distress-notice is off: people who mention self-harm are not shown where to find help"
                )
            serve(site.app(), address_of(opt), lambda url: announce("Chat", url, bool(token)))


def _export(opt: Opt, study: Study) -> None:
    with closing(open_store(opt["store"], may_make=False)) as store:
        marks = write_export(store, study.name, opt["export"], excluded=True)
        print(f"{counted(marks, 'mark')}: {opt['export']}")
        talks = talks_path(opt["export"])
        print(f"{counted(write_talks(store, study.name, talks, excluded=True), 'conversation')}: {talks}")


def _study(opt: Opt) -> Study:
    """Return the study of ``--study``; without it, one for free chat with one model, named after the model."""
    models, own = by_name("--models", opt["models"]), _own_model(opt)
    if models and own:
        raise OptionError("--models and -mf cannot be combined: leave one of the two out")
    named = models or ({own: own} if own else None)
    if opt["study"]:
        study = read_study(opt["study"], models=named)
        if study.kind != "chat":
            raise OptionError(f"{study.where}: kind is {study.kind}: this page is for chat; see parlai rate_site")
        study.check_complete()
        return study
    if models:
        raise OptionError("--models: needs a study: add --study chat, or name one model with -mf")
    if not own:
        raise OptionError("-mf: name the model to chat with, or an agent with -m")
    return replace(read_study(_FREE, models=named), name=f"chat-{own}")


def _own_model(opt: Opt) -> str:
    """Return the name in the store of the model of ``-mf`` or ``-m``; empty if neither is given."""
    if opt.get("model_file"):
        return judge_name(opt["model_file"])
    return str(opt.get("model") or "").removeprefix("empathy:").replace("/", "-")


def _partners(opt: Opt, study: Study) -> dict[str, Partner]:
    if _own_model(opt):
        partner = Partner(_own_agent(opt))
        return {model.name: partner for model in study.models}
    return {name: Partner(agent) for name, agent in load_chat_models(study.models, opt.get("datapath")).items()}


def _own_agent(opt: Opt) -> Any:
    """Create the agent from ParlAI's options, as ``parlai interactive`` does."""
    with loading(opt.get("model_file") or opt.get("model") or "the model"):
        return create_agent(opt, requireModelExists=True)


def _emotions(opt: Opt) -> Emotions | None:
    if not opt["emotion_model"]:
        return None
    classifier = Classifier(opt["emotion_model"], opt.get("datapath"))
    return lambda texts: [best[0] for best in classifier.top(texts, 1)]


def _check_counts(opt: Opt) -> None:
    for name, most in (("workers", 64), ("longest_message", 5000)):
        if not 1 <= opt[name] <= most:
            raise OptionError(f"--{name.replace('_', '-')} {opt[name]}: expected a whole number from 1 to {most:,}")
