"use strict";
// What pages need beyond HTML: the page is made again when the vault changes, keys, relative times, messages that go.
(() => {
  const $ = (selector, within = document) => within.querySelector(selector);
  const body = document.body;
  const main = $("main");

  // Live: the daemon's events arrive on #live by name. A page in which somebody types waits until they are done.
  const NAMES = body.dataset.events.split(" ");
  let timer = 0;
  let waits = false;
  const isTyping = () => {
    const field = document.activeElement;
    const open = main && main.contains(field) && field.matches("input, textarea, select") && field.value !== "";
    return Boolean(open) || Boolean($("main dialog[open]"));
  };
  const refresh = () => {
    timer = 0;
    if (isTyping()) { waits = true; return; }
    waits = false;
    document.querySelectorAll("[data-live]").forEach((part) => htmx.trigger(part, "refresh"));
  };
  const soon = () => { if (!timer) timer = setTimeout(refresh, 300); };
  const live = $("#live");
  if (live) NAMES.forEach((name) => live.addEventListener(name, soon));
  body.addEventListener("changed", soon);
  document.addEventListener("focusout", () => { if (waits) soon(); });
  // A page that is made again may move or replace what had the focus: it goes back there, else to the button that now
  // stands in its place (a paused job can be let run again), else to the begin of the page.
  const about = (button) => [...button.form.querySelectorAll("[type=hidden]")].map((each) => each.value).join("\n");
  const buttonsLike = (button) => [...main.querySelectorAll("form button")].filter((each) => about(each) === about(button));
  let held = null;
  document.addEventListener("htmx:before:swap", (event) => {
    const element = document.activeElement;
    held = event.target === main && main.contains(element) ? { element, like: element.form ? buttonsLike(element) : [] } : null;
  });
  document.addEventListener("htmx:after:swap", () => {
    if (!held || document.activeElement !== body) return;
    const { element, like } = held, now = element.form ? buttonsLike(element) : [];
    const instead = now.length === like.length ? now[like.indexOf(element)] : null;
    (element.isConnected ? element : instead || main).focus({ preventScroll: true });
    held = null;
  });
  // How much waits for the person stands in the navigation, which is not made again.
  const count = () => document.querySelectorAll(".badge").forEach((badge) => {
    badge.textContent = main.dataset.waiting;
    badge.hidden = main.dataset.waiting === "0";
  });
  if (main) new MutationObserver(count).observe(main, { attributeFilter: ["data-waiting"] });
  // What somebody has opened or closed stays so: false keeps the attribute as it is.
  htmx.registerExtension("opened", {
    htmx_before_morph_attr: (element, change) => !(change.attrName === "open" && element.matches("main details")),
  });
  // What came while the stream was broken may be more than the server keeps. A page that nobody keeps up says so, until
  // there is somebody again; the first try to connect again may be too early.
  let connections = 0;
  let lost = null;
  document.addEventListener("htmx:sse:after:connection", (event) => {
    if (event.target !== live) return;
    if (lost) lost.remove();
    lost = null;
    if (connections++) soon();
  });
  document.addEventListener("htmx:sse:error", (event) => {
    const { connection, status } = event.detail;
    if (event.target === live && connection && connection.attempt > 1 && !status && !lost) lost = tell("");
  });

  // Times: "5 minutes ago" goes on being true, within the hour; then it is the time of today.
  const say = (count) => new Intl.RelativeTimeFormat(document.documentElement.lang, { numeric: "always" }).format(count, "minute");
  const age = (time) => {
    const at = new Date(time.dateTime), minutes = (at - Date.now()) / 60000;
    if (Math.abs(minutes) < 60) return Math.abs(minutes) < 1 ? null : say(Math.trunc(minutes));
    time.removeAttribute("data-age");
    return at.toDateString() === new Date().toDateString() ? `${body.dataset.today} ${time.dateTime.slice(11, 16)}` : null;
  };
  if (!("clockset" in body.dataset)) setInterval(() => document.querySelectorAll("time[data-age]").forEach((time) => {
    const said = age(time);
    if (said !== null) time.textContent = said;
  }), 20000);

  // Messages: good ones go by themselves, problems stay until they are closed.
  const messages = $("#messages");
  messages.addEventListener("click", (event) => { if (event.target.closest("button")) event.target.closest(".message").remove(); });
  new MutationObserver((changes) => changes.forEach((change) => change.addedNodes.forEach((added) => {
    if (added.nodeType === 1 && !added.matches(".problem")) setTimeout(() => added.remove(), 6000);
  }))).observe(messages, { childList: true });
  const tell = (text) => {
    const message = $("#lost").content.firstElementChild.cloneNode(true);
    if (text) $("p", message).textContent = text;
    messages.append(message);
    return message;
  };
  // What was done is said on the page that it leads to.
  document.addEventListener("htmx:before:response", (event) => {
    const said = event.detail.ctx.response.headers.get("X-Said");
    if (said) sessionStorage.setItem("said", decodeURIComponent(said));
  });
  const said = sessionStorage.getItem("said");
  if (said) {
    sessionStorage.removeItem("said");
    tell(said).classList.remove("problem");
  }
  document.addEventListener("htmx:error", (event) => {
    if (event.target === live || (event.detail && event.detail.ctx && event.detail.ctx.response)) return;
    if (lost) lost.remove();
    lost = tell("");
  });

  // Forms that have done their work are empty again.
  document.addEventListener("htmx:after:request", (event) => {
    const form = event.target.closest && event.target.closest("form[data-clears]");
    if (form && event.detail.ctx.response && event.detail.ctx.response.status < 400) form.reset();
  });

  // A question before what cannot be taken back easily.
  document.addEventListener("submit", (event) => {
    const question = event.target.dataset && event.target.dataset.confirm;
    if (question && !window.confirm(question)) { event.preventDefault(); event.stopImmediatePropagation(); }
  }, true);

  // The palette: all pages, what can be done at once, and notes by their names. Arrows go through what fits.
  const palette = $("#palette"), words = $("#palette-words"), opener = $("#palette-open");
  const fits = () => [...palette.querySelectorAll("li:not([hidden]) :is(a, button)")];
  const narrow = () => {
    const wanted = words.value.toLowerCase().split(/\s+/);
    palette.querySelectorAll("#palette-own li").forEach((each) => { each.hidden = !wanted.every((word) => each.textContent.toLowerCase().includes(word)); });
  };
  const openPalette = () => { words.value = ""; $("#palette-notes").replaceChildren(); narrow(); palette.showModal(); };
  opener.hidden = false;
  opener.addEventListener("click", openPalette);
  words.addEventListener("input", narrow);
  palette.addEventListener("submit", () => palette.close());
  palette.addEventListener("click", (event) => { if (event.target === palette) palette.close(); });
  palette.addEventListener("keydown", (event) => {
    const all = fits(), at = all.indexOf(document.activeElement);
    if (event.key === "Enter" && event.target === words) { event.preventDefault(); if (all[0]) all[0].click(); }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    (all[at + (event.key === "ArrowDown" ? 1 : -1)] || words).focus();
  });

  // What is folded or opened stays so on the pages to come: a thing by its name on its page, the properties everywhere.
  const fold = (details) => details.dataset.fold || `${location.pathname} ${details.querySelector("summary").textContent.replace(/\d+/g, "").trim()}`;
  const folds = JSON.parse(localStorage.getItem("folds") || "{}");
  const unfold = () => main.querySelectorAll("details").forEach((each) => { const kept = folds[fold(each)]; if (kept !== undefined) each.open = kept; });
  if (main) unfold();
  document.addEventListener("click", (event) => {
    const details = event.target.closest && event.target.closest("main details > summary") && event.target.closest("details");
    if (!details) return;
    folds[fold(details)] = !details.open;
    localStorage.setItem("folds", JSON.stringify(Object.fromEntries(Object.entries(folds).slice(-200))));
  });

  // A conversation is read from its last question on.
  const last = $("[data-last]");
  if (last && last.getBoundingClientRect().top > innerHeight / 2) last.scrollIntoView({ block: "start" });

  // Keys: g and a letter go to a page, / to the search, ? shows them all.
  let isGoing = 0;
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "Enter" && event.target.matches("textarea")) {
      event.target.form.requestSubmit();
      return;
    }
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") { event.preventDefault(); if (!palette.open) openPalette(); return; }
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target.matches("input, textarea, select")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (isGoing && Date.now() - isGoing < 1500) {
      isGoing = 0;
      const link = $(`a[data-letter="${CSS.escape(event.key)}"]`);
      if (link) { event.preventDefault(); link.click(); }
      return;
    }
    if (event.key === "g") isGoing = Date.now();
    else if (event.key === "/") { event.preventDefault(); $("#find").focus(); }
    else if (event.key === "?") { event.preventDefault(); $("#keys").showModal(); }
    else if (event.key === "Escape") document.querySelectorAll(".tabs details[open]").forEach((each) => each.removeAttribute("open"));
  });
  document.addEventListener("click", (event) => {
    const menu = $(".tabs details[open]");
    if (menu && !menu.contains(event.target)) menu.removeAttribute("open");
  });
})();
