"""Raters from crowds: Amazon Mechanical Turk, Prolific, or any marketplace that sends people by a link.

Nothing here serves pages. For a site, these modules read its links, provide what a rater sees at the end, and define
who may show the site in a frame. On Mechanical Turk, they publish, pay and close batches::

    entry = entry_of(query)                                           # entry: the visitor; None if not from a crowd
    entry.is_preview                                                  # not accepted yet: show only the instructions
    may_enter(entry, rater.details)                                   # whether it is the rater first known by that name
    desk.enrol(entry.rater, details={**entry.details, "submit_to": entry.submit_to})
    completion(rater.details, study, done=10)                         # completion: a form, a link or a code
    frame_ancestors(), form_targets()                                 # framing: for the headers
    prolific_link("https://ratings.example.org/")                     # links: to be pasted into Prolific's page

    offer = Offer(url="https://...", title="...", description="...", reward="1.20", raters=30)   # offer
    estimate(offer).total                                             # cost: with Mechanical Turk's fee
    ledger = Ledger(store)                                            # ledger
    batches = Batches(ledger, client(is_live=False))                  # mturk, batches: the sandbox
    batch = batches.publish("pilot", "ed", offer)                     # resumes if it was interrupted
    work = Work(ledger, client(is_live=False), batch, desk.raters())  # submissions: approve, reject, pay
    work.approve(work.pieces()[0])

Each request to Mechanical Turk is recorded in the ratings store before and after it is made
(:mod:`~parlai_empathy.rating.crowd.ledger`), so that a second run pays nobody twice.
"""
