"""What agents are built with: options, dictionaries, training, judging, trained models. None of it is an agent."""
