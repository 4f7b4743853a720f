"""What all web apps of this package share: sessions, CSRF-protected forms, headers, rate limits and the page frame.

An app is a :class:`~parlai_empathy.rating.web.app.Site` with pages; a page is an async function that takes a
:class:`~parlai_empathy.rating.web.visit.Visit` and returns a response::

    site = Site(
        title="Herons",                                          # shown in the frame of every page
        secret=site_secret("ratings.db"),                        # from the environment, or a file beside the store
        folders=[Path(__file__).parent],                         # holds the app's templates/ and static/
    )

    async def show(visit: Visit) -> Response:
        name = visit.session.get("name")                         # signed cookie: the visitor cannot change it
        return visit.page("hello.html", name=name)               # Jinja2; everything is escaped

    async def rename(visit: Visit) -> Response:
        form = await visit.form()                                # checks size, content type and CSRF token
        await in_thread(desk.enrol, form.text("name"))           # for calls that wait for a store or a model
        visit.session.put("name", form.text("name"))
        return visit.redirect("/")                               # 303: a reload does not send the form again

    site.add("/", show)
    site.add("/name", rename, method="POST")
    serve(site.app(), Address("127.0.0.1", 8000))                # runs uvicorn; returns when the server is stopped

A template extends ``frame.html`` (blocks ``title``, ``main``, and ``wide`` for the width), and every POST form begins
with ``{{ token() }}``, a hidden field. ``{{ static("site.css") }}`` is the URL of a static file. The headers forbid
inline scripts and styles: put them in files under ``static/``. A page raises
:class:`~parlai_empathy.rating.web.error_pages.Refusal` to show an error page with another status.

Starlette, uvicorn and Jinja2 are imported only when an app is created; ``pip install "parlai-empathy[site]"`` installs
them.
"""
