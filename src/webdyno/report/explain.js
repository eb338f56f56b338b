// The second half of the page's script: figures that explain themselves, light and dark, and the start of it all.

// A table that explains itself is a grid (ARIA Authoring Practices): one stop for the Tab key, arrows move between its
// figures and their heads.

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
    cell.dataset.title = cell.textContent; // paper has no buttons
    const button = make("button", {type: "button"}, ...cell.childNodes);
    button.addEventListener("click", () => sortBy(one, key));
    cell.append(button);
    hints.set(button, says);
  }
  // Said outright, because browsers forget what a table is where a narrow screen lays it out as blocks.
  const roles = {"thead, tbody": "rowgroup", tr: "row", th: "columnheader", td: "gridcell", "td.name": "rowheader"};
  for (const [selector, role] of Object.entries(roles)) for (const it of all(selector, table)) it.setAttribute("role", role);
  table.setAttribute("role", "grid");
  for (const stop of stops(one).flat()) stop.tabIndex = -1;
  one.at = stops(one).flat()[0];
  if (!one.at) return;
  rove(one, one.at);
  table.addEventListener("focusin", event => { if (event.target.tabIndex === -1) rove(one, event.target); });
  table.addEventListener("keydown", event => move(one, event));
}

// Explanations: shown while the pointer rests on a figure, while it has the focus, and after a tap; Escape closes.

const hints = new Map();
const tip = make("div", {role: "tooltip", id: "tip", hidden: ""});
let explained = null, soon = 0;

function takeHints() {
  for (const it of all("main [title]")) {
    hints.set(it, it.title);
    it.removeAttribute("title");
    if (!it.closest("table")) it.tabIndex = 0; // within tables the arrow keys lead to it
  }
  for (const one of tables) for (const row of one.rows) for (const cell of row.cells) {
    const plain = !hints.has(cell) && !cell.matches(".bar") && !cell.querySelector("a") && cell.textContent;
    if (plain) hints.set(cell, "");
  }
  // in the other tables only figures: what their column says is meant of these
  for (const {rows, heads} of others) for (const row of rows) for (const cell of row.cells) {
    if (cell.matches(".n") && heads[cell.cellIndex].says && !hints.has(cell)) hints.set(cell, "");
  }
}

// Whom a row is about: its contender, or what stands before the first column that is explained.
function subject(one, row) {
  if (tables.includes(one)) return row.dataset.contender;
  const names = Math.max(1, one.heads.findIndex(head => head.says));
  return [...row.cells].slice(0, names).map(cell => cell.textContent).join(", ");
}

function words(it) {
  const one = [...tables, ...others].find(({table}) => table.contains(it));
  const cell = it.closest("td");
  if (!one || it !== cell) return ["", hints.get(it)];
  const {title, says, key} = one.heads[cell.cellIndex], of = subject(one, cell.parentElement);
  if (key === "contender") return [of, hints.get(it)];
  const beside = cell.querySelector("small"); // its interval
  const unit = cell.dataset.unit ? ` ${cell.dataset.unit}` : "";
  const figure = beside ? `${cell.firstChild.textContent.trim()} (${beside.textContent.trim()})` : cell.textContent + unit;
  return [`${key === "place" ? "place" : title} of ${of}: ${figure}`, hints.get(it), says];
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
    else if ((event.key === "Enter" || event.key === " ") && event.target.matches("td, th") && hints.has(event.target)) {
      event.preventDefault();
      explain(event.target);
    }
  });
  for (const {table} of [...tables, ...others]) table.addEventListener("click", event => {
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
    const reached = all("a, button, [tabindex='0']", box).some(it => it.getClientRects().length);
    const card = box.closest(".card");
    const title = (card?.querySelector("h3") ?? card?.querySelector("summary"))?.textContent;
    const wanted = !reached && box.scrollWidth > box.clientWidth;
    const means = {role: "region", tabindex: "0", "aria-label": title || "Text"};
    for (const [name, value] of Object.entries(means)) {
      if (wanted) box.setAttribute(name, value);
      else box.removeAttribute(name);
    }
  }
}

// What a link leads to is not left folded; not every browser opens it by itself.
function unfold(it) {
  for (; it; it = it.parentElement) if (it.matches("details")) it.open = true;
}

root.classList.add("acting");
colours();
takeHints();
[...tables, ...others].forEach(grid);
for (const {heads} of tables) heads[0].cell.setAttribute("aria-sort", "ascending");
controls();
tables.forEach(anyTwo);
explanations();
readFragment();
apply();
boxes();
addEventListener("resize", boxes);
addEventListener("toggle", boxes, true);
addEventListener("hashchange", () => {
  const to = document.getElementById(location.hash.slice(1));
  if (to?.closest("[hidden]")) view.workload = "";
  else if (!readFragment() && !to) return;
  apply();
  unfold(to);
  to?.scrollIntoView();
});
