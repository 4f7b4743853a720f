"""The 20 groups, and a one-word topic for each."""

from __future__ import annotations

TOPICS = {
    "alt.atheism": "atheism",
    "comp.graphics": "graphics",
    "comp.os.ms-windows.misc": "windows",
    "comp.sys.ibm.pc.hardware": "pc",
    "comp.sys.mac.hardware": "mac",
    "comp.windows.x": "x",
    "misc.forsale": "sale",
    "rec.autos": "autos",
    "rec.motorcycles": "motorcycles",
    "rec.sport.baseball": "baseball",
    "rec.sport.hockey": "hockey",
    "sci.crypt": "cryptography",
    "sci.electronics": "electronics",
    "sci.med": "medicine",
    "sci.space": "space",
    "soc.religion.christian": "christian",
    "talk.politics.guns": "guns",
    "talk.politics.mideast": "mideast",
    "talk.politics.misc": "politics",
    "talk.religion.misc": "religion",
}
"""The words that the released code of Rashkin et al. 2019 prepends to a text, so that models are comparable."""
