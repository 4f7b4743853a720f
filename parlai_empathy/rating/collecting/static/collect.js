// Shows at once what the partner does. Everything works without this script: the page then reloads itself.
"use strict";

(() => {
  const byId = (id) => document.getElementById(id);
  const write = byId("write");
  const key = (write || byId("place") || { dataset: {} }).dataset.key;
  if (!key) return;
  const [text, turn, problem, heard] = ["text", "turn", "problem", "heard"].map(byId);
  const send = write && write.querySelector("button");
  let isBusy = false;
  let isLeaving = false;
  let source;

  const toEnd = () => window.scrollTo(0, document.documentElement.scrollHeight);
  const isAtEnd = () => window.scrollY + window.innerHeight > document.documentElement.scrollHeight - 100;
  const grow = () => { text.style.height = "auto"; text.style.height = `${text.scrollHeight + 2}px`; };
  const reload = () => {
    if (isLeaving) return;
    isLeaving = true;
    source.close();
    location.replace("/talk");
  };

  const complain = (words) => {
    problem.textContent = words;
    problem.hidden = !words;
    text.setAttribute("aria-invalid", String(Boolean(words)));
  };

  // Only the person whose turn it is can write; the title shows it, for tabs in the background.
  const allow = () => {
    const isMine = byId("live").dataset.mine === "yes";
    text.disabled = send.disabled = !isMine || isBusy;
    text.placeholder = isMine ? "Write a message" : "It is the other person's turn";
    turn.value = byId("live").dataset.turn;
    document.title = (isMine ? "Your turn: " : "") + write.dataset.title;
    return isMine;
  };

  // The server renders this HTML with its own templates, which escape everything that people write.
  const setLive = (html) => {
    const before = byId("turns").children.length;
    const wasMine = byId("live").dataset.mine === "yes";
    const follows = isAtEnd(); // people who have scrolled up are reading
    const fresh = new DOMParser().parseFromString(html, "text/html").getElementById("live");
    if (!fresh) return;
    byId("live").replaceWith(document.adoptNode(fresh));
    const isMine = allow();
    const last = byId("turns").lastElementChild;
    if (!last || byId("turns").children.length <= before) return;
    if (follows || last.classList.contains("mine")) toEnd();
    // Announce what is new to screen readers: help lines and the partner's messages.
    const help = last.querySelector(".help-lines");
    if (help) heard.textContent = help.textContent;
    else if (last.classList.contains("theirs")) heard.textContent = last.querySelector(".words-said").textContent;
    if (isMine && !wasMine) text.focus({ preventScroll: true });
  };

  const take = (now) => {
    if (now.key !== key) reload();
    else if (write && now.live) setLive(now.live);
  };

  // Takes the page with which the server answers a form: the same conversation, updated, or a different page.
  const takePage = (html, isKept) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    const form = page.getElementById("write");
    if (!form || form.dataset.key !== key) {
      if (isKept || !page.querySelector("main p")) reload();
      else complain(page.querySelector("main p").textContent);
      return;
    }
    const own = page.getElementById("problem");
    complain(own.hidden ? "" : own.textContent);
    setLive(page.getElementById("live").outerHTML);
  };

  if (write) {
    write.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (isBusy || text.disabled) return;
      if (!text.value.trim()) { complain("Write something first."); text.focus(); return; }
      const body = new URLSearchParams(new FormData(write));
      isBusy = true;
      allow();
      try {
        const response = await fetch("/say", { method: "POST", body });
        const html = await response.text();
        if (response.ok) { text.value = ""; grow(); }
        isBusy = false;
        takePage(html, response.ok);
      } catch {
        complain("The connection broke. Send it again: nothing is stored twice.");
      }
      isBusy = false;
      if (allow()) text.focus({ preventScroll: true });
    });

    // Enter sends if there is a keyboard. A message is one line.
    text.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing || matchMedia("(pointer: coarse)").matches) return;
      event.preventDefault();
      write.requestSubmit();
    });
    text.addEventListener("input", grow);
    if (problem.hidden) allow();
    toEnd();
  }

  // If the stream ends, the browser reconnects by itself; if it was refused, the script tries again later.
  const listen = () => {
    source = new EventSource("/events");
    source.addEventListener("place", (event) => take(JSON.parse(event.data)));
    source.addEventListener("error", () => {
      if (source.readyState === EventSource.CLOSED && !isLeaving) setTimeout(listen, 5000);
    });
  };
  addEventListener("pagehide", () => { isLeaving = true; source.close(); });
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  listen();
})();
