// Makes forms more convenient. Everything works without this script.
"use strict";

(() => {
  const problems = document.querySelector(".problems");
  if (problems) problems.focus();

  const form = document.querySelector("form.questions");
  if (!form) return;
  const controls = () => [...form.elements].filter((one) => one.name.startsWith("q-"));

  // A number key answers the focused question and moves on to the next one. It works nowhere else on the page, since
  // page-wide shortcuts of one character get in the way of people who use speech input.
  form.addEventListener("keydown", (event) => {
    if (event.target.type !== "radio" || event.ctrlKey || event.altKey || event.metaKey) return;
    const question = event.target.closest(".question");
    const chosen = question.querySelector(`input[data-key="${CSS.escape(event.key)}"]`);
    if (!chosen) return;
    event.preventDefault();
    chosen.checked = true;
    chosen.dispatchEvent(new Event("input", { bubbles: true }));
    const questions = [...form.querySelectorAll(".question")];
    const next = questions[questions.indexOf(question) + 1];
    const first = next && (next.querySelector("input:checked") || next.querySelector("input, textarea"));
    (first || form.querySelector("button[type=submit]")).focus();
  });

  // Counts the characters of free texts: at once on the screen, and after a pause in typing for screen readers.
  for (const area of form.querySelectorAll("textarea")) {
    const [seen, heard] = area.closest(".question").querySelectorAll(".count, [role=status]");
    const most = Number(area.dataset.most);
    let rest;
    const count = () => {
      const length = [...area.value.trim()].length;
      seen.textContent = `${length.toLocaleString("en")} of at most ${most.toLocaleString("en")} characters`;
      seen.classList.toggle("over", length > most);
      clearTimeout(rest);
      rest = setTimeout(() => { heard.textContent = length > 0.9 * most ? seen.textContent : ""; }, 1000);
    };
    seen.hidden = false;
    area.addEventListener("input", count);
    count();
  }

  // Unsent answers survive a reload, in this tab only. The form names what they are about, if they are to be kept.
  const key = `draft ${form.dataset.draft}`;
  const storage = (work) => { try { return work(sessionStorage); } catch { return null; } };
  if (form.dataset.draft) {
    // The next item's form removes the draft of the one before; a page on which an earlier answer is changed does not.
    const old = storage((kept) => Object.keys(kept).filter((one) => one.startsWith("draft ") && one !== key)) || [];
    for (const one of old) storage((kept) => kept.removeItem(one));
    const said = JSON.parse(storage((kept) => kept.getItem(key)) || "{}");
    for (const one of controls()) {
      if (!(one.name in said)) continue;
      if (one.type === "radio") one.checked = one.value === said[one.name];
      else { one.value = said[one.name]; one.dispatchEvent(new Event("input")); }
    }
    form.addEventListener("input", () => {
      storage((kept) => kept.setItem(key, JSON.stringify(Object.fromEntries(
        [...new FormData(form)].filter(([name]) => name.startsWith("q-"))))));
    });
  }
})();
