// What the report does: here filter and sort, in explain.js the rest; Python writes both into the page as one script. The
// page is whole without it, so every control is made here. Nothing is loaded or sent, and text stays text.

const root = document.documentElement;
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

function make(name, attributes, ...children) {
  const it = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) it.setAttribute(key, value);
  it.append(...children);
  return it;
}

// The tables, as Python wrote them: a head that names its columns, and rows that name their contender.

function read(table, at) {
  const rows = [...table.tBodies[0].rows];
  const heads = [...table.tHead.rows[0].cells].map(cell => ({
    cell, title: cell.firstChild?.textContent ?? "", says: cell.title, key: cell.dataset.key, first: cell.dataset.sort,
  }));
  const place = table.closest("details.table") || table.closest("section");
  return {table, rows, heads, place, name: `sort${at + 1}`, sorted: ""};
}

const tables = all(".ranking table").map(read);
const others = all("main table:has(thead [title], td[title])").filter(table => !table.closest(".ranking")).map(read);
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
  for (const one of tables) {
    one.place.hidden = view.workload !== "" && one.table.dataset.workload !== view.workload;
    order(one, view[one.name]);
  }
  for (const {rows, text} of notes) {
    const shown = rows.filter(row => !row.hidden).length;
    text.data = `${shown} of ${rows.length} shown `;
    text.parentElement.hidden = shown === rows.length;
  }
  for (const one of [...tables, ...others]) {
    const [first] = one.at?.closest("[hidden]") ? stops(one).flat() : [];
    if (first) rove(one, first);
  }
  for (const [name, field] of fields) if (field.value !== view[name]) field.value = view[name];
  const names = [...known.keys()];
  clear.hidden = !["name", ...FACETS].some(name => view[name]);
  opened.checked ||= !clear.hidden;
  say(`${names.filter(keeps).length} of ${names.length} shown`);
}

const fields = new Map();
const status = make("span", {role: "status"});
const clear = make("button", {type: "button", hidden: ""}, "Show all");
const opened = make("input", {type: "checkbox"}); // on a telephone, where the filter is closed at first
const say = text => { if (status.textContent !== text) status.textContent = text; };

function showAll() {
  for (const name of ["name", ...FACETS]) view[name] = "";
  changed();
}

// Every table whose rows may be filtered out says how many it shows.
const notes = [...new Set(all("tr[data-contender]").map(row => row.closest("table")))].map(table => {
  const more = make("button", {type: "button"}, "Show all");
  more.addEventListener("click", () => { showAll(); fields.get("name")?.focus(); });
  const text = document.createTextNode("");
  table.parentElement.after(make("p", {class: "shown", hidden: ""}, text, more));
  return {rows: all("tr[data-contender]", table), text};
});

function field(label, name, control) {
  control.addEventListener("input", () => { view[name] = control.value; changed(); });
  fields.set(name, control);
  return make("label", {}, make("span", {}, label), control);
}

function controls() {
  if (known.size < 2) return;
  const parts = [field("Filter by name", "name",
    make("input", {type: "search", placeholder: "uvicorn, gunicorn !sync", autocomplete: "off", spellcheck: "false"}))];
  for (const facet of FACETS) {
    const from = facet === "workload" ? tables.map(one => one.table.dataset) : [...known.values()];
    const values = [...new Set(from.map(facts => facts[facet]).filter(Boolean))].sort();
    if (values.length < 2) continue;
    const options = values.map(value => make("option", {value}, value));
    parts.push(field(facet[0].toUpperCase() + facet.slice(1), facet, make("select", {},
      make("option", {value: ""}, "all"), ...options)));
  }
  clear.addEventListener("click", () => { showAll(); fields.get("name").focus(); });
  parts.push(make("p", {}, status, " ", clear));
  const opens = make("label", {class: "opens"}, opened, make("span", {}, "Filter"));
  const first = all("main > *").find(it => it.querySelector("svg.chart, tr[data-contender]"));
  first.before(make("div", {id: "controls", class: "shut", role: "search", "aria-label": "What is shown"}, opens, ...parts));
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
