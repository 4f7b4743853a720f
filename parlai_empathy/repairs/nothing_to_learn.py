"""A training of an agent without weights: its options become a model file, where ParlAI would fail half-way."""

from __future__ import annotations

import functools
from typing import Any

from parlai_empathy.errors import OptionError


def keep_options(train_model: Any) -> None:
    """Make and save the agent if its class says ``learns = False``, and train nothing."""
    script = train_model.TrainModel
    train = script.run

    @functools.wraps(train)
    def run(self: Any) -> Any:
        import parlai.utils.logging as logging
        from parlai.core.loader import load_agent_module

        name, path = self.opt.get("model"), self.opt.get("model_file")
        if not name or getattr(load_agent_module(name), "learns", True):
            return train(self)
        if not path:
            raise OptionError(f"--model-file is missing: {name} learns nothing, and keeps its options alone: name one")
        agent = train_model.create_agent(self.opt)
        agent.save(path)
        agent.shutdown()
        logging.info(f"{name} learns nothing: there are no weights; {path} brings these options back with -mf")
        return {}, {}

    script.run = run
