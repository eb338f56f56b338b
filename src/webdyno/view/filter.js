"use strict";
// Filters the list while it is written in; without a script its button asks the server for the same.
(() => {
  const input = document.getElementById("q");
  const shown = document.getElementById("shown");
  const chosen = document.getElementById("chosen");
  const form = input.form;
  const rows = [...document.querySelectorAll(".shelf tbody tr")];
  const filter = () => {
    const words = input.value.toLowerCase().split(/\s+/);
    let count = 0;
    for (const row of rows) {
      // asked anew each time, because answers come while the list is there
      const text = `${row.textContent} ${row.dataset.study ?? ""}`.toLowerCase();
      row.hidden = !words.every(word => text.includes(word));
      if (!row.hidden) count += 1;
    }
    shown.textContent = `${count} of ${rows.length} results shown`;
  };
  const choose = () => {
    const fields = new FormData(form);
    const sides = ["base", "head"].filter(side => fields.get(side));
    chosen.textContent = sides.map(side => `${side}: ${fields.get(side)}`).join(", ");
  };
  form.querySelector(".filter button").hidden = true;
  input.addEventListener("input", filter);
  // Enter would press the first button, which is hidden: the list is filtered already
  input.addEventListener("keydown", event => {
    if (event.key === "Enter") event.preventDefault();
  });
  form.addEventListener("change", choose);
  if (input.value) filter(); // a browser that comes back fills it in again
  choose();
})();
