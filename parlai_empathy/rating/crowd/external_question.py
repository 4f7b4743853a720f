"""The ``ExternalQuestion`` of a HIT, which shows one's own site.

Its schema requires two elements in this order: ``ExternalURL``, which must be ``https``, and ``FrameHeight``, a whole
number of pixels (0: as high as the worker's window).
https://docs.aws.amazon.com/AWSMechTurk/latest/AWSMturkAPI/ApiReference_ExternalQuestionArticle.html
"""

from __future__ import annotations

from xml.etree import ElementTree

from parlai_empathy.rating.crowd.links import checked_url

NAMESPACE = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd"


def external_question(url: str, frame_height: int = 0) -> str:
    """The XML of an ``ExternalQuestion``.

    :param url: of the rating site, to which Mechanical Turk adds the worker and the assignment.
    :raises OptionError: unless it is an ``https`` address.
    """
    root = ElementTree.Element("ExternalQuestion", {"xmlns": NAMESPACE})
    ElementTree.SubElement(root, "ExternalURL").text = checked_url(url)
    ElementTree.SubElement(root, "FrameHeight").text = str(frame_height)
    return ElementTree.tostring(root, encoding="unicode")
