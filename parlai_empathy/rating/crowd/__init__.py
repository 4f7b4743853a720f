"""Raters from a crowd: Amazon Mechanical Turk, Prolific, or any marketplace that sends people by a link.

Nothing here serves pages. Of a site it says what one of its links means, what a rater is shown at the end, and who may
show the site in a frame; of Mechanical Turk it publishes, pays and closes::

    entry = entry_of(query)                                           # entry: who comes; None for anybody else
    entry.is_preview                                                  # instructions only: nothing is accepted yet
    may_enter(entry, rater.details)                                   # whether it is who came under that name first
    desk.enrol(entry.rater, details={**entry.details, "submit_to": entry.submit_to})
    completion(rater.details, study, done=10)                         # completion: a form, a link or a code
    frame_ancestors(), form_targets()                                 # framing: for the headers
    prolific_link("https://ratings.example.org/")                     # links: to be pasted into Prolific's page

    offer = Offer(url="https://...", title="...", description="...", reward="1.20", raters=30)   # offer
    estimate(offer).total                                             # cost: with Mechanical Turk's fee
    ledger = Ledger(store)                                            # ledger
    batches = Batches(ledger, client(is_live=False))                  # mturk, batches: the sandbox
    batch = batches.publish("pilot", "ed", offer)                     # goes on where it was broken off
    work = Work(ledger, client(is_live=False), batch, desk.raters())  # work: what came in
    work.approve(work.pieces()[0])

All that was asked of Mechanical Turk is noted in the ratings' store before and after it is done
(:mod:`~parlai_empathy.rating.crowd.ledger`), so that no second run pays anybody twice.
"""
