"""``zoo:empathy/retrieval_paper/model``: the EmpatheticDialogues paper's Transformer without pretraining on Reddit."""

from parlai_empathy.zoo.build import ZooModel

MODEL = ZooModel(
    name="retrieval_paper",
    title="The EmpatheticDialogues paper's retrieval Transformer, trained on EmpatheticDialogues alone",
    recipe="-t empathy:empathetic_dialogues:BothRoles -m empathy:retrieval --preset paper --seed 1",
)
download = MODEL.download
