"""What every web page of this package stands on: sessions, forms that cannot be forged, headers, limits, the frame.

An app is a :class:`~parlai_empathy.rating.web.app.Site` of pages; a page is a function of a
:class:`~parlai_empathy.rating.web.visit.Visit` that gives a response::

    site = Site(
        title="Herons",                                          # in the frame of every page
        secret=site_secret("ratings.db"),                        # secret: from the environment, or beside the store
        folders=[Path(__file__).parent],                         # with templates/ and static/ of the app's own
    )

    async def show(visit: Visit) -> Response:
        name = visit.session.get("name")                         # signed cookie: the visitor cannot change it
        return visit.page("hello.html", name=name)               # Jinja2; everything is escaped

    async def rename(visit: Visit) -> Response:
        form = await visit.form()                                # checked: size, type, and the token against forgery
        await in_thread(desk.enrol, form.text("name"))           # threads: whatever waits for a store or a model
        visit.session.put("name", form.text("name"))
        return visit.redirect("/")                               # 303: a reload does not send the form again

    site.add("/", show)
    site.add("/name", rename, method="POST")
    serve(site.app(), Address("127.0.0.1", 8000))                # serving: uvicorn; returns when it is stopped

A template extends ``frame.html`` (blocks ``title``, ``main``, ``wide`` for the width), and every form that is sent by
POST begins with ``{{ token() }}``, a hidden field. ``{{ static("site.css") }}`` is the address of a file. Scripts and
styles inside pages are forbidden by the headers: they are files of their own under ``static/``. A page raises
:class:`~parlai_empathy.rating.web.refusals.Refusal` to show a plain page with another status.

Nothing here imports Starlette, uvicorn or Jinja2 before an app is made; ``pip install "parlai-empathy[site]"`` brings
them.
"""
