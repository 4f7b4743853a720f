// Shows replies while they are written. Everything works without this script: the page then reloads itself.
"use strict";

(() => {
  const byId = (id) => document.getElementById(id);
  const turns = byId("turns");
  const write = byId("write");
  if (!turns || !write) return;
  const [text, turn, problem, typing, part, failed, heard, number] =
    ["text", "turn", "problem", "typing", "part", "failed", "heard", "number"].map(byId);
  const send = write.querySelector("button");
  let isBusy = false;

  const show = (element, isShown) => { element.hidden = !isShown; };
  const reload = () => location.replace("/"); // the current page may be the answer to a form
  const toEnd = () => window.scrollTo(0, document.documentElement.scrollHeight);
  const isAtEnd = () => window.scrollY + window.innerHeight > document.documentElement.scrollHeight - 100;

  const grow = () => { text.style.height = "auto"; text.style.height = `${text.scrollHeight + 2}px`; };

  const busy = (is) => {
    isBusy = is;
    send.disabled = is;
    show(typing, is);
    if (!is) { part.textContent = ""; show(part, false); }
  };

  const complain = (words) => {
    problem.textContent = words;
    show(problem, Boolean(words));
    text.setAttribute("aria-invalid", String(Boolean(words)));
  };

  const controls = () => [...turns.querySelectorAll("a, button, summary, textarea")];

  // The server renders this HTML with its own templates, which escape everything that people write.
  const setTurns = (html) => {
    const before = turns.children.length;
    const comments = [...turns.querySelectorAll("details textarea")];
    const focused = controls().indexOf(document.activeElement);
    turns.innerHTML = html;
    for (const old of comments) { // stay open or closed, with what was written and not saved yet
      const area = byId(old.id);
      if (!area) continue;
      area.closest("details").open = old.closest("details").open;
      if (old.value !== old.defaultValue) area.value = old.value;
    }
    if (focused >= 0) controls()[focused]?.focus({ preventScroll: true }); // new turns follow at the end
    const count = turns.children.length;
    turn.value = count + 1;
    if (number) number.textContent = count + 1;
    const last = turns.lastElementChild;
    if (!last || count <= before) return;
    // Announce what is new to screen readers: help lines and replies.
    const help = last.querySelector(".help-lines");
    if (help) heard.textContent = help.textContent;
    else if (last.classList.contains("theirs")) heard.textContent = last.querySelector(".words-said").textContent;
  };

  const take = (name, value) => {
    const follows = isAtEnd(); // people who have scrolled up are reading
    if (name === "turns") { part.textContent = ""; show(part, false); setTurns(value); }
    if (name === "part") { part.textContent = value; show(part, Boolean(value)); }
    if (name === "end") { busy(false); show(failed, value); }
    if (follows) toEnd();
    if (name !== "end") return;
    if (!turns.contains(document.activeElement)) text.focus({ preventScroll: true });
    if (turns.children.length >= Number(turns.dataset.most)) reload(); // to a page without a message box
  };

  // Reads events from a streaming response.
  const follow = async (response) => {
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      rest += decoder.decode(value, { stream: true });
      const blocks = rest.split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) {
        const lines = Object.fromEntries(block.split("\n").map((line) => line.split(/: (.*)/s).slice(0, 2)));
        if (lines.event) take(lines.event, JSON.parse(lines.data));
      }
    }
    if (isBusy) throw new Error("the connection broke");
  };

  const refused = async (response) => {
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = page.getElementById("turns");
    if (fresh && !page.getElementById("write")) { reload(); return; }
    if (fresh) { // another tab has continued the conversation, or the connection broke
      setTurns(fresh.innerHTML);
      show(failed, !page.getElementById("failed").hidden);
      toEnd();
      if (fresh.dataset.waiting === "yes") { ask("/events", { method: "GET" }); return; }
    }
    const own = page.getElementById("problem");
    const words = own && !own.hidden ? own.textContent : (page.querySelector("main p") || {}).textContent;
    complain(words || "This did not work. Load the page again.");
  };

  const ask = async (address, options) => {
    let isKept = options.method !== "POST"; // the server stores a message before it responds
    busy(true);
    show(failed, false);
    toEnd();
    try {
      const response = await fetch(address, { ...options, headers: { Accept: "text/event-stream" } });
      if ((response.headers.get("content-type") || "").startsWith("text/event-stream")) {
        complain("");
        isKept = true;
        if (options.method === "POST") { text.value = ""; grow(); }
        await follow(response);
      } else {
        busy(false);
        if (response.ok) reload();
        else await refused(response);
      }
    } catch {
      busy(false);
      complain(isKept
        ? "The connection broke. Your message is stored: load the page again."
        : "The connection broke. Send it again: nothing is stored twice.");
    }
  };

  write.addEventListener("submit", (event) => {
    event.preventDefault();
    if (isBusy) return;
    if (!text.value.trim()) { complain("Write something first."); text.focus(); return; }
    ask("/say", { method: "POST", body: new URLSearchParams(new FormData(write)) });
  });

  // Enter sends if there is a keyboard; Shift+Enter begins a new line.
  text.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || matchMedia("(pointer: coarse)").matches) return;
    event.preventDefault();
    write.requestSubmit();
  });

  text.addEventListener("input", grow);

  failed.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!isBusy) ask("/events", { method: "GET" });
  });

  // Store marks without reloading the page.
  turns.addEventListener("submit", async (event) => {
    if (!event.target.matches(".mark")) return;
    event.preventDefault();
    const form = event.target;
    const fields = new URLSearchParams(new FormData(form));
    const button = event.submitter;
    if (button && button.name) fields.set(button.name, button.value);
    try {
      const response = await fetch("/mark", { method: "POST", body: fields, redirect: "manual" });
      if (response.type !== "opaqueredirect" && !response.ok) { await refused(response); return; }
    } catch {
      complain("The connection broke. Your mark was not stored.");
      return;
    }
    if (button && button.name) {
      for (const one of form.querySelectorAll(".pick")) {
        one.classList.toggle("chosen", one === button);
        one.setAttribute("aria-pressed", String(one === button));
      }
      heard.textContent = "Your mark is stored.";
    } else {
      const details = form.closest("details");
      details.open = false;
      details.querySelector("summary").firstChild.textContent = "Your comment";
      heard.textContent = "Your comment is stored.";
      details.querySelector("summary").focus();
    }
  });

  if (turns.dataset.waiting === "yes") ask("/events", { method: "GET" });
  else if (turns.children.length) toEnd();
})();
