// Any two contenders of a table: a choice below its ranking, and what Python wrote about all pairs. See compared.py.

const COMPARED = {rate: "requests/s", p99: "p99", cpu_per_request: "CPU per request", memory_peak: "memory"};

function pairsOf(text) {
  const [logs, reach] = text.split(";").map(part => part.split(",").map(it => it === "" ? NaN : Number(it) / 1e4));
  return (one, other) => {
    const [row, column] = one < other ? [one, other] : [other, one];
    const before = row * logs.length - row * (row + 1) / 2; // pairs of the rows above
    const half = one === other ? 0 : reach[before + column - row - 1];
    const log = logs[one] - logs[other];
    return [log, log - half, log + half].map(Math.exp);
  };
}

// As many digits as in the column "vs best": more where an end of the interval would read as the ratio, or as 1.
function ratioText([value, low, high]) {
  let places = value >= 0.1 ? 2 : 3;
  const same = end => [value, 1].some(it => end.toFixed(places) === it.toFixed(places));
  const known = !Number.isNaN(low);
  while (known && places < 4 && (same(low) || same(high))) places += 1;
  const ends = known ? ` (${low.toFixed(places)}–${high.toFixed(places)})` : "";
  return `${value.toFixed(places)}×${ends}`;
}

function anyTwo({table, rows}) {
  const ranked = rows.filter(row => !row.classList.contains("out")).map(row => row.dataset.contender);
  if (!table.dataset.rate || ranked.length < 2) return;
  const figures = Object.keys(COMPARED).filter(key => dataOf(table, key)).map(key => [COMPARED[key], pairsOf(dataOf(table, key))]);
  const select = (label, at) => {
    const it = make("select", {"aria-label": label}, ...ranked.map((name, place) => make("option", {value: place}, name)));
    it.selectedIndex = at;
    it.addEventListener("input", show);
    return it;
  };
  const out = make("output", {});
  const one = select("Compare", 0), other = select("with", 1);
  function show() {
    const at = [one, other].map(it => it.selectedIndex);
    const told = figures.map(([title, of]) => [title, of(...at)]).filter(([, of]) => !Number.isNaN(of[0]));
    out.textContent = at[0] === at[1] ? "Choose two." : told.map(([title, of]) => `${title} ${ratioText(of)}`).join(", ");
  }
  table.parentElement.parentElement.append(make("p", {class: "any"}, "Compare ", one, " with ", other, " ", out));
  show();
}

const dataOf = (table, key) => table.getAttribute(`data-${key.replaceAll("_", "-")}`);
