// Puts the server's messages in place and sends clicks back. Keeps nothing in the browser: no storage, no cookies.
(() => {
  "use strict";
  document.documentElement.lang = "de";
  for (const [name, value] of [["language", "de-AT"], ["languages", ["de-AT", "de"]]]) {
    Object.defineProperty(navigator, name, { get: () => value });
  }

  const $ = (selector, root = document) => root.querySelector(selector);
  const make = (tag, props) => Object.assign(document.createElement(tag), props);
  const TURN_RUNS = ["start", "search", "write", "regenerate"];
  let paneHost = "pv-pane";
  let opener = null;

  // --- places -----------------------------------------------------------------------------------------------------
  function place(hostId, className, tag = "div") {
    const host = document.getElementById(hostId);
    if (!host) return null;
    return $(`:scope > .${className}`, host) || host.appendChild(make(tag, { className }));
  }

  // A place whose answer is on its way says so, until something comes.
  const busy = (hostId) => document.getElementById(hostId)?.classList.add("pv-loading");
  function arrived(hostId) {
    const host = document.getElementById(hostId);
    if (!host?.classList.contains("pv-loading")) return;
    host.classList.remove("pv-loading");
    // On a narrow page the detail stands below its list.
    if (host.matches(".pv-split > :last-child") && innerWidth <= 1000) host.scrollIntoView();
  }

  function paneBody(hostId) {
    const pane = place(hostId, "pv-pane-body", "aside");
    if (pane && !pane.hasAttribute("aria-label")) {
      pane.setAttribute("aria-label", "Beleg");
      pane.tabIndex = 0;
    }
    return pane;
  }

  function thread() {
    const log = place("pv-thread", "pv-log");
    if (log && !log.hasAttribute("role")) {
      log.setAttribute("role", "log");
      log.setAttribute("aria-label", "Fragen und Antworten");
      log.tabIndex = 0;
    }
    return log;
  }

  const SLOTS = {
    header: (html) => fill(place("pv-header", "pv-header-body", "header"), html),
    welcome: (html) => fill($(".pv-turn") ? null : welcomePlace(), html),
    pane: (html) => fillEmpty(paneBody("pv-pane"), html),
    "search-pane": (html) => fillEmpty(paneBody("pv-search-pane"), html),
    results: (html) => fill(place("pv-results", "pv-results-body"), html),
  };
  const fillHost = (hostId) => (html) => fill(place(hostId, `${hostId}-body`), html); // any other slot is the id of its host
  const newest = {}; // html by slot: a tab that is drawn later gets it then

  function welcomePlace() {
    const log = thread();
    return log && ($(".pv-welcome-place", log) || log.appendChild(make("div", { className: "pv-welcome-place" })));
  }

  function fill(target, html) {
    if (target && target.pvHtml !== html) {
      const held = target.contains(document.activeElement) ? document.activeElement : null;
      target.innerHTML = html;
      target.pvHtml = html;
      // Whoever works with the keyboard stays where they were, or goes to the heading of what replaced it.
      if (held) ((held.id && document.getElementById(held.id)) || $("[data-focus]", target))?.focus({ preventScroll: true });
    }
  }

  function fillEmpty(target, html) {
    if (target && !target.childElementCount) target.innerHTML = html;
  }

  // --- messages ---------------------------------------------------------------------------------------------------
  function showTurn({ turn, phase, blocks }) {
    const log = thread();
    let article = $(`[data-turn="${turn}"]`, log);
    const isNew = !article;
    if (isNew) {
      $(".pv-welcome-place", log)?.remove();
      article = make("article", { className: "pv-turn" });
      article.dataset.turn = turn;
      article.setAttribute("aria-label", `Frage ${turn.slice(1)}`);
      log.appendChild(article);
    }
    article.dataset.phase = phase;
    const old = new Map([...article.children].map((child) => [child.dataset.key, child]));
    let before = null;
    for (const [key, html] of blocks) {
      let block = old.get(key);
      old.delete(key);
      if (!block) {
        block = make("div", { className: "pv-block" });
        block.dataset.key = key;
      }
      fill(block, html);
      const next = before ? before.nextSibling : article.firstChild;
      if (next !== block) article.insertBefore(block, next);
      before = block;
    }
    old.forEach((block) => block.remove());
    if (isNew) {
      log.style.setProperty("--pv-room", `${log.clientHeight}px`);
      log.scrollTop = article.offsetTop - log.offsetTop;
    }
    document.body.classList.toggle("pv-busy", !!$(".pv-turn[data-phase]", log) && TURN_RUNS.includes(lastPhase(log)));
  }

  const lastPhase = (log) => log.lastElementChild?.dataset.phase ?? "final";

  function showEvidence(html) {
    const pane = paneBody(paneHost);
    if (!pane) return;
    pane.innerHTML = `<button type="button" class="pv-close" data-do="close" aria-label="Beleg schließen">✕</button>${html}`;
    document.getElementById(paneHost).classList.add("pv-open");
    const hit = $("#pv-hit", pane) || $("#pv-cited", pane);
    pane.scrollTop = hit ? Math.max(0, offsetIn(hit, pane) - pane.clientHeight * 0.3) : 0;
    $(".pv-pane-title", pane)?.focus({ preventScroll: true });
  }

  function offsetIn(element, container) {
    return element.getBoundingClientRect().top - container.getBoundingClientRect().top + container.scrollTop;
  }

  function showNote({ note, kind, text, ok }) {
    const target = $(`[data-note="${CSS.escape(note)}"]`);
    if (!target) return;
    target.textContent = text;
    target.classList.toggle("pv-bad", !ok);
    const article = target.closest(".pv-turn");
    if (ok && kind === "comment") $(".pv-comment textarea", article).value = "";
    if (ok && kind === "gap") article.querySelectorAll('[data-do="gap"]').forEach((b) => { b.disabled = true; });
    if (kind === "rate") {
      const thumbs = article.querySelectorAll(".pv-thumb");
      if (ok) thumbs.forEach((b) => { b.disabled = true; });
      else thumbs.forEach((b) => b.setAttribute("aria-pressed", "false"));
    }
  }

  function save({ download, type, content }) {
    const url = URL.createObjectURL(new Blob([content], { type }));
    make("a", { href: url, download }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  }

  function read(carrier) {
    const raw = carrier.textContent.trim();
    if (!raw || carrier.pvRaw === raw) return;
    let parts;
    try {
      parts = JSON.parse(raw).parts;
    } catch {
      return; // half-written text; the next mutation has the rest
    }
    carrier.pvRaw = raw;
    for (const part of parts) {
      arrived(part.slot);
      if (part.slot === "evidence") showEvidence(part.html);
      else if ("slot" in part) newest[part.slot] = part.html;
      else if ("turn" in part) showTurn(part);
      else if ("note" in part) showNote(part);
      else if ("download" in part) save(part);
    }
    document.dispatchEvent(new Event("pv-message"));
  }

  // --- the login --------------------------------------------------------------------------------------------------
  // Whoever's session has ended is told so once; without it every click would do nothing.
  const answer = window.fetch;
  window.fetch = async (...request) => {
    const response = await answer(...request);
    if (response.status === 401) sayExpired();
    return response;
  };

  function sayExpired() {
    if (document.getElementById("pv-expired")) return;
    const told = make("div", { id: "pv-expired", className: "pv-expired" });
    told.setAttribute("role", "alert");
    told.append("Die Anmeldung ist abgelaufen. ", make("a", { href: "/login", textContent: "Bitte neu anmelden." }));
    $(".gradio-container")?.append(told);
  }

  // --- commands ---------------------------------------------------------------------------------------------------
  function setText(box, text) {
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(box), "value").set.call(box, text);
    box.dispatchEvent(new Event("input", { bubbles: true }));
  }

  function send(channel, command) {
    const box = $(`#pv-${channel}-box textarea, #pv-${channel}-box input`);
    if (!box) return;
    setText(box, JSON.stringify(command));
    document.getElementById(`pv-${channel}-send`).click();
  }

  const openTab = (id) => document.getElementById(`pv-tab-${id}-button`)?.click();

  // A tab that was never open is drawn first.
  function whenThere(selector, then, tries = 50) {
    const found = $(selector);
    if (found) then(found);
    else if (tries > 0) setTimeout(() => whenThere(selector, then, tries - 1), 40);
  }

  function sendForm(form) {
    if (form.dataset.busy) busy(form.dataset.busy);
    send(form.dataset.channel, { do: form.dataset.command, ...Object.fromEntries(new FormData(form)) });
  }

  const questionBox = () => $("#pv-question textarea, #pv-question input");

  const ACTIONS = {
    open(button) {
      opener = button;
      const tab = button.closest("#pv-search, .pv-tab");
      paneHost = tab ? `${tab.id}-pane` : "pv-pane";
      document.querySelectorAll(".pv-chip[aria-current]").forEach((chip) => chip.removeAttribute("aria-current"));
      if (button.classList.contains("pv-chip")) button.setAttribute("aria-current", "true");
      const { entry, section, spans } = button.dataset;
      send("command", { do: "open", entry, section: section ?? null, spans: spans ?? "" });
    },
    close() {
      document.getElementById(paneHost)?.classList.remove("pv-open");
      document.querySelectorAll(".pv-chip[aria-current]").forEach((chip) => chip.removeAttribute("aria-current"));
      if (opener?.isConnected) opener.focus();
    },
    example(button) {
      setText(questionBox(), button.dataset.question);
      questionBox().focus();
      document.getElementById("pv-ask").click();
    },
    edit(button) {
      setText(questionBox(), button.dataset.question);
      questionBox().focus();
    },
    again(button) {
      button.disabled = true;
      send("again", { do: "again", question: button.dataset.question, model: button.dataset.model });
    },
    rate(button) {
      button.setAttribute("aria-pressed", "true");
      send("command", { do: "rate", request: button.dataset.request, thumb: button.dataset.thumb });
    },
    gap: (button) => send("command", { do: "gap", request: button.dataset.request }),
    evidence: (button) => send("command", { do: "evidence", request: button.dataset.request }),
    // A command of one of the other tabs: `data-channel` names its channel, the other data are the command, together with the
    // fields of the form that `data-form` names. `data-busy` is the place where the answer will stand.
    tab(button) {
      const { do: _, channel, command, form, busy: place, ...rest } = button.dataset;
      const fields = form ? Object.fromEntries(new FormData(document.getElementById(form))) : {};
      if (place) busy(place);
      send(channel, { do: command, ...fields, ...rest });
    },
    // A question goes to the tab Fragen, to be edited or sent; or to the tab Suche, where it is searched for.
    reuse(button) {
      openTab("ask");
      ACTIONS.edit(button);
    },
    look(button) {
      openTab("search");
      whenThere("#pv-search-box textarea", (box) => {
        setText(box, button.dataset.question);
        document.getElementById("pv-search-go").click();
      });
    },
    async copy(button) {
      const article = button.closest(".pv-turn");
      const done = await copyText($(".pv-copy", article).textContent);
      $(".pv-feedback", article).textContent = done ? "Kopiert." : "Kopieren ist hier nicht erlaubt.";
    },
  };

  async function copyText(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const box = document.body.appendChild(make("textarea", { value: text }));
      box.select();
      const done = document.execCommand("copy"); // the only way on a page without TLS
      box.remove();
      return done;
    }
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-do]");
    if (button) ACTIONS[button.dataset.do]?.(button);
  });

  document.addEventListener("submit", (event) => {
    if (event.submitter?.hasAttribute("data-native")) return; // the browser fetches a file
    const fields = event.target.closest("form.pv-form");
    if (fields) {
      event.preventDefault();
      sendForm(fields);
      return;
    }
    const form = event.target.closest("form.pv-comment");
    if (!form) return;
    event.preventDefault();
    send("command", { do: "comment", request: form.dataset.request, text: $("textarea", form).value });
  });

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      if (document.body.classList.contains("pv-busy")) document.getElementById("pv-stop")?.click();
      else if ($(".pv-open")) ACTIONS.close();
    }
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.closest("form.pv-comment")) {
      event.target.closest("form").requestSubmit();
    }
  });

  setInterval(() => {
    if ($(".pv-starting")) document.getElementById("pv-refresh")?.click();
  }, 2000);

  new MutationObserver(() => {
    for (const carrier of document.querySelectorAll(".pv-carrier")) read(carrier);
    for (const [name, html] of Object.entries(newest)) (SLOTS[name] ?? fillHost(name))(html);
    for (const form of document.querySelectorAll("form.pv-form[data-auto]")) {
      if (!document.getElementById(`pv-${form.dataset.channel}-send`)) continue;
      form.removeAttribute("data-auto");
      sendForm(form);
    }
  }).observe(document.documentElement, { subtree: true, childList: true, characterData: true });
})();
