"""Training an agent without weights saves its options as a model file; ParlAI would fail half-way."""

from __future__ import annotations

import functools
from typing import Any

from parlai_empathy.errors import OptionError


def keep_options(train_model: Any) -> None:
    """Create and save an agent whose class has ``learns = False``, without training."""
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
            raise OptionError(
                f"--model-file is missing: {name} has no weights to train, only options to save: name a file for them"
            )
        agent = train_model.create_agent(self.opt)
        agent.save(path)
        agent.shutdown()
        logging.info(f"{name} has no weights to train; its options are saved: -mf {path} uses them")
        return {}, {}

    script.run = run
