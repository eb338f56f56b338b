"use strict";
// What the report does: filter, sort, explain, and choose between light and dark. The page is whole without it, so every
// control is made here. Nothing is loaded or sent, and text goes into the page as text only.
(() => {
const root = document.documentElement;
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

function make(name, attributes, ...children) {
  const it = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) it.setAttribute(key, value);
  it.append(...children);
  return it;
}

// The tables, as Python wrote them: a head that names its columns, and rows that name their contender.

const tables = all(".ranking table").map((table, at) => {
  const rows = [...table.tBodies[0].rows];
  const heads = [...table.tHead.rows[0].cells].map(cell => ({
    cell, title: cell.textContent, says: cell.title, key: cell.dataset.key, first: cell.dataset.sort,
  }));
  return {table, rows, heads, name: `sort${at + 1}`, sorted: ""};
});
const sections = all("section[data-workload]");
const known = new Map();
for (const {rows} of tables) for (const row of rows) known.set(row.dataset.contender, row.dataset);
all("svg.chart").forEach(nameLines);
for (const row of all("main tbody tr:not([data-contender])")) {
  if (known.has(row.cells[0]?.textContent)) row.dataset.contender = row.cells[0].textContent;
}
const marked = all("[data-contender]");

// A chart names its lines and dots by their title, and its colours by their labels; all else of a colour goes with it.
function nameLines(chart) {
  const colours = new Map();
  const colour = it => /\bs\d\b/.exec(it.getAttribute("class"))?.[0];
  for (const title of all("title, text.label", chart)) {
    const it = title.matches("title") ? title.parentElement : title;
    const name = [title.textContent, title.textContent.split(/[:,]/)[0]].find(text => known.has(text));
    if (name === undefined) continue;
    it.dataset.contender = name;
    if (colour(it)) colours.set(colour(it), name);
  }
  for (const it of all("[class]", chart)) if (colours.has(colour(it))) it.dataset.contender ||= colours.get(colour(it));
}

// The view: what is shown and in which order. It is kept in the fragment of the address, so that it can be linked.

const FACETS = ["language", "framework", "model", "workload"];
const NAMES = ["name", ...FACETS, ...tables.map(one => one.name)];
const view = Object.fromEntries(NAMES.map(name => [name, ""]));
let later = 0;

function readFragment() {
  if (!location.hash.includes("=")) return false;
  const asked = new URLSearchParams(location.hash.slice(1));
  for (const name of NAMES) view[name] = asked.get(name) || "";
  return true;
}

function writeFragment() {
  const said = NAMES.filter(name => view[name]).map(name => [name, view[name]]);
  if (!said.length && !location.hash.includes("=")) return; // the address names a place in the page: leave it
  const fragment = said.length ? `#${new URLSearchParams(said)}` : location.pathname + location.search;
  try { history.replaceState(null, "", fragment); } catch { /* some browsers forbid it to files, or so often */ }
}

function changed() {
  apply();
  clearTimeout(later);
  later = setTimeout(writeFragment, 150);
}

// Filter: "gunicorn gevent, uvicorn, !sync": words side by side must all match, a comma begins another choice, and a
// word after an exclamation mark must not match.

function matcher(text) {
  const without = [], choices = [];
  for (const part of text.toLowerCase().split(",")) {
    const words = part.split(/\s+/).filter(Boolean);
    without.push(...words.filter(word => word[0] === "!").map(word => word.slice(1)).filter(Boolean));
    const wanted = words.filter(word => word[0] !== "!");
    if (wanted.length) choices.push(wanted);
  }
  return name => !without.some(word => name.includes(word))
    && (!choices.length || choices.some(words => words.every(word => name.includes(word))));
}

function kept() {
  const matches = matcher(view.name);
  const facets = FACETS.filter(facet => facet !== "workload" && view[facet]);
  return name => {
    const facts = known.get(name) || {};
    return matches(`${name} ${facts.server || ""}`.toLowerCase()) && facets.every(facet => facts[facet] === view[facet]);
  };
}

function apply() {
  const keeps = kept();
  for (const it of marked) {
    const away = !keeps(it.dataset.contender);
    if (it instanceof SVGElement) it.classList.toggle("away", away);
    else it.hidden = away;
  }
  for (const it of sections) it.hidden = view.workload !== "" && it.dataset.workload !== view.workload;
  for (const one of tables) {
    order(one, view[one.name]);
    const shown = one.rows.filter(row => !row.hidden).length;
    one.note.hidden = shown === one.rows.length;
    one.note.firstChild.data = `${shown} of ${one.rows.length} shown `;
    if (one.at.closest("[hidden]")) rove(one, stops(one)[0][0]);
  }
  for (const [name, field] of fields) if (field.value !== view[name]) field.value = view[name];
  const names = [...known.keys()];
  clear.hidden = !["name", ...FACETS].some(name => view[name]);
  say(`${names.filter(keeps).length} of ${names.length} shown`);
}

const fields = new Map();
const status = make("span", {role: "status"});
const clear = make("button", {type: "button", hidden: ""}, "Show all");
const say = text => { if (status.textContent !== text) status.textContent = text; };

function showAll() {
  for (const name of ["name", ...FACETS]) view[name] = "";
  changed();
}

function field(label, name, control) {
  control.addEventListener("input", () => { view[name] = control.value; changed(); });
  fields.set(name, control);
  return make("label", {}, make("span", {}, label), control);
}

function controls() {
  const place = document.getElementById("controls");
  const parts = [field("Filter by name", "name",
    make("input", {type: "search", placeholder: "uvicorn, gunicorn !sync", autocomplete: "off", spellcheck: "false"}))];
  for (const facet of FACETS) {
    const from = facet === "workload" ? sections.map(it => it.dataset) : [...known.values()];
    const values = [...new Set(from.map(facts => facts[facet]).filter(Boolean))].sort();
    if (values.length < 2) continue;
    const options = values.map(value => make("option", {value}, value));
    parts.push(field(facet[0].toUpperCase() + facet.slice(1), facet, make("select", {},
      make("option", {value: ""}, "all"), ...options)));
  }
  clear.addEventListener("click", () => { showAll(); fields.get("name").focus(); });
  place.append(...parts, make("p", {}, status, " ", clear));
  place.setAttribute("role", "search");
  place.setAttribute("aria-label", "What is shown");
  place.hidden = known.size < 2;
}

// Sort: "p99" is the column with its best first, "-p99" the other way round. Places and letters stay as they are.

function order(one, asked) {
  if (asked === one.sorted) return;
  const key = asked.replace("-", "");
  const at = one.heads.findIndex(head => head.key === key && head.first);
  const down = at >= 0 && (one.heads[at].first === "down") !== asked.startsWith("-");
  const numbers = at >= 0 && one.rows.some(row => row.cells[at].dataset.value);
  const text = row => key === "contender" ? row.dataset.contender : row.cells[at].textContent.replace(/^-$/, "");
  const value = row => numbers ? Number(row.cells[at].dataset.value ?? NaN) : text(row);
  const missing = it => it === "" || Number.isNaN(it);
  const compare = (a, b) => missing(a) || missing(b) ? missing(a) - missing(b) : ((a > b) - (a < b)) * (down ? -1 : 1);
  const rows = at < 0 ? one.rows : [...one.rows].sort((a, b) => compare(value(a), value(b)));
  one.table.tBodies[0].append(...rows);
  one.sorted = asked;
  const by = at < 0 ? 0 : at;
  one.heads.forEach(({cell}, index) => {
    if (index === by) cell.setAttribute("aria-sort", down ? "descending" : "ascending");
    else cell.removeAttribute("aria-sort");
  });
}

function sortBy(one, key) {
  const again = view[one.name] === key || (key === "place" && !view[one.name]);
  view[one.name] = again ? `-${key}` : key === "place" ? "" : key;
  changed();
  say(`${status.textContent}, sorted by ${one.heads.find(head => head.key === key).title.replace("#", "place")}`);
}

// A ranking is a grid (ARIA Authoring Practices): one stop for the Tab key, arrows move between its figures.

const ARROWS = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};
const column = stop => stop.closest("td, th").cellIndex;

function stops(one) {
  const rows = [one.table.tHead.rows[0], ...one.table.tBodies[0].rows].filter(row => !row.hidden);
  return rows.map(row => [...row.cells].flatMap(cell => {
    const inside = all("a, button", cell);
    return inside.length ? inside : cell.matches(".bar") || !hints.has(cell) ? [] : [cell];
  }));
}

function rove(one, stop) {
  one.at.tabIndex = -1;
  one.at = stop;
  stop.tabIndex = 0;
}

function move(one, event) {
  const rows = stops(one);
  const y = rows.findIndex(row => row.includes(event.target));
  if (y < 0) return;
  const x = rows[y].indexOf(event.target);
  const [dy, dx] = ARROWS[event.key] || [0, 0];
  let to = rows[y][x + dx];
  if (dy) to = rows[y + dy]?.filter(stop => column(stop) <= column(event.target)).at(-1);
  if (event.key === "Home") to = (event.ctrlKey ? rows[0] : rows[y])[0];
  if (event.key === "End") to = (event.ctrlKey ? rows.at(-1) : rows[y]).at(-1);
  if (!dy && !dx && event.key !== "Home" && event.key !== "End") return;
  event.preventDefault();
  if (to) to.focus();
}

function grid(one) {
  const {table, heads} = one;
  for (const {cell, first, key, says} of heads.filter(head => head.first)) {
    const button = make("button", {type: "button"}, ...cell.childNodes);
    button.addEventListener("click", () => sortBy(one, key));
    cell.append(button);
    hints.set(button, says);
  }
  // Said outright, because browsers forget what a table is where a narrow screen lays it out as blocks.
  const roles = {"thead, tbody": "rowgroup", tr: "row", th: "columnheader", td: "gridcell", "td.name": "rowheader"};
  for (const [selector, role] of Object.entries(roles)) for (const it of all(selector, table)) it.setAttribute("role", role);
  table.setAttribute("role", "grid");
  heads[0].cell.setAttribute("aria-sort", "ascending");
  for (const stop of stops(one).flat()) stop.tabIndex = -1;
  one.at = all("button", table)[0];
  rove(one, one.at);
  table.addEventListener("focusin", event => { if (event.target.tabIndex === -1) rove(one, event.target); });
  table.addEventListener("keydown", event => move(one, event));
  one.note = make("p", {class: "shown", hidden: ""}, "", make("button", {type: "button"}, "Show all"));
  one.note.prepend(document.createTextNode(""));
  one.note.lastChild.addEventListener("click", () => { showAll(); one.at.focus(); });
  table.parentElement.after(one.note);
}

// Explanations: shown while the pointer rests on a figure, while it has the focus, and after a tap; Escape closes.

const hints = new Map();
const tip = make("div", {role: "tooltip", id: "tip", hidden: ""});
let explained = null, soon = 0;

function takeHints() {
  for (const it of all("main [title]")) {
    hints.set(it, it.title);
    it.removeAttribute("title");
    if (!it.closest(".ranking")) it.tabIndex = 0;
  }
  for (const one of tables) for (const row of one.rows) for (const cell of row.cells) {
    const plain = !hints.has(cell) && !cell.matches(".bar") && !cell.querySelector("a") && cell.textContent;
    if (plain) hints.set(cell, "");
  }
}

function words(it) {
  const one = tables.find(({table}) => table.contains(it));
  const cell = it.closest("td");
  if (!one || it !== cell) return ["", hints.get(it)];
  const {title, says, key} = one.heads[cell.cellIndex];
  const of = cell.parentElement.dataset.contender;
  if (key === "contender") return [of, hints.get(it)];
  return [`${key === "place" ? "place" : title} of ${of}: ${cell.textContent}`, hints.get(it), says];
}

function explain(it) {
  clearTimeout(soon);
  if (explained === it) return;
  close();
  explained = it;
  const [head, ...lines] = words(it);
  tip.replaceChildren(...(head ? [make("b", {}, head)] : []), ...lines.filter(Boolean).map(line => make("p", {}, line)));
  tip.hidden = false;
  it.setAttribute("aria-describedby", "tip");
  put();
}

function close() {
  clearTimeout(soon);
  if (explained) explained.removeAttribute("aria-describedby");
  explained = null;
  tip.hidden = true;
}

function leave() { // what has the focus stays explained
  const it = explained && explainable(document.activeElement);
  if (it) explain(it);
  else close();
}

function put() {
  if (!explained) return;
  const at = explained.getBoundingClientRect(), gap = 7;
  const left = Math.max(8, Math.min(at.left, root.clientWidth - tip.offsetWidth - 8));
  const above = at.top - tip.offsetHeight - gap;
  tip.style.left = `${left}px`;
  tip.style.top = `${above >= 8 ? above : at.bottom + gap}px`;
}

function explainable(node) {
  for (let it = node; it instanceof Element; it = it.parentElement) if (hints.has(it)) return it;
  return null;
}

function explanations() {
  document.body.append(tip);
  document.addEventListener("pointerover", event => {
    if (event.pointerType === "touch") return;
    clearTimeout(soon);
    const it = explainable(event.target);
    if (it && it !== explained) soon = setTimeout(explain, 120, it);
    else if (!it && !tip.contains(event.target) && explained) soon = setTimeout(leave, 250);
  });
  root.addEventListener("pointerleave", () => { clearTimeout(soon); soon = setTimeout(leave, 250); });
  document.addEventListener("focusin", event => { const it = explainable(event.target); if (it) explain(it); });
  document.addEventListener("focusout", event => { if (explained === event.target) close(); });
  document.addEventListener("keydown", event => {
    if (event.key === "Escape") close();
    else if ((event.key === "Enter" || event.key === " ") && event.target.matches("td") && hints.has(event.target)) {
      event.preventDefault();
      explain(event.target);
    }
  });
  for (const {table} of tables) table.addEventListener("click", event => {
    const it = explainable(event.target); // a second tap on what has the focus already
    if (it) explain(it);
  });
  document.addEventListener("pointerdown", event => {
    if (explained && !tip.contains(event.target) && !explained.contains(event.target)) close();
  });
  addEventListener("scroll", put, {capture: true, passive: true});
  addEventListener("resize", put);
}

// Light or dark: as the system has it, until the button is used; remembered for this sitting only.

function colours() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const rules = [...document.styleSheets].flatMap(sheet => [...sheet.cssRules])
    .filter(rule => rule.media?.mediaText.includes("prefers-color-scheme: dark"));
  const usual = rules.map(rule => rule.media.mediaText);
  const button = make("button", {type: "button", class: "colours"});
  let chosen = "";
  try { chosen = sessionStorage.getItem("webdyno-colours") || ""; } catch { /* forbidden here: then not remembered */ }
  const now = () => chosen || (dark.matches ? "dark" : "light");
  const other = () => now() === "dark" ? "light" : "dark";
  const paint = () => {
    rules.forEach((rule, at) => {
      rule.media.mediaText = !chosen ? usual[at] : chosen === "dark" ? "screen" : "not all";
    });
    root.style.colorScheme = chosen;
    button.textContent = other() === "dark" ? "Dark" : "Light";
    button.setAttribute("aria-label", `${button.textContent} colours`);
  };
  button.addEventListener("click", () => {
    chosen = other();
    if (chosen === (dark.matches ? "dark" : "light")) chosen = "";
    try { sessionStorage.setItem("webdyno-colours", chosen); } catch { /* as above */ }
    paint();
  });
  dark.addEventListener("change", paint);
  document.querySelector("header").append(button);
  paint();
}

// Boxes that scroll sideways can be reached and scrolled by keyboard.

function boxes() {
  for (const box of all(".scroll, pre")) {
    const reached = box.querySelector("a, button, [tabindex='0']");
    const title = box.closest(".card")?.querySelector("h3")?.textContent;
    const wanted = !reached && box.scrollWidth > box.clientWidth;
    const means = {role: "region", tabindex: "0", "aria-label": title || "Text"};
    for (const [name, value] of Object.entries(means)) {
      if (wanted) box.setAttribute(name, value);
      else box.removeAttribute(name);
    }
  }
}

root.classList.add("acting");
colours();
takeHints();
tables.forEach(grid);
controls();
explanations();
readFragment();
apply();
boxes();
addEventListener("resize", boxes);
addEventListener("hashchange", () => {
  const to = document.getElementById(location.hash.slice(1));
  if (to?.closest("section[hidden]")) view.workload = "";
  else if (!readFragment()) return;
  apply();
  to?.scrollIntoView();
});
})();
