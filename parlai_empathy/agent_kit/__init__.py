"""Building blocks of agents: options, dictionaries, training, judging, trained models. It defines no agents."""
