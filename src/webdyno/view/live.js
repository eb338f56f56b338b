"use strict";
// Keeps a page up to date: the server sends the parts that changed, whole, as it made them.
(() => {
  const main = document.querySelector("[data-events]");
  const said = document.getElementById("link");
  let source = null;
  let over = false;
  // those who read a chart by keyboard, or have scrolled it, are left where they are
  const put = (id, html) => {
    const it = document.getElementById(id);
    if (!it || it.innerHTML === html) return;
    const boxes = () => [...it.querySelectorAll(".scroll")];
    const before = boxes().map(box => ({ left: box.scrollLeft, focused: box === document.activeElement }));
    it.innerHTML = html;
    boxes().forEach((box, at) => {
      box.scrollLeft = before[at]?.left ?? 0;
      if (before[at]?.focused) box.focus({ preventScroll: true });
    });
  };
  const AGAIN_MS = 5000;
  const open = () => {
    if (over || document.hidden) return;
    source?.close();
    source = new EventSource(main.dataset.events);
    const mine = source;
    source.onopen = () => {
      said.textContent = said.dataset.open;
    };
    source.onerror = () => {
      said.textContent = "The connection is lost; trying again.";
      // a browser tries again by itself, but for ever gives up a stream that was refused
      if (mine.readyState === EventSource.CLOSED) setTimeout(() => { if (mine === source) open(); }, AGAIN_MS);
    };
    for (const part of ["now", "done"]) {
      source.addEventListener(part, (event) => put(part, event.data));
    }
    // the place of an answer in the list, and on the lines below what belongs there
    source.addEventListener("said", (event) => {
      const [id, ...lines] = event.data.split("\n");
      put(id, lines.join("\n"));
    });
    source.addEventListener("changed", () => {
      over = true;
      source.close();
      location.reload();
    });
    source.addEventListener("over", (event) => {
      over = true;
      source.close();
      put("link", event.data);
    });
  };
  // a page nobody sees costs the measurement nothing
  document.addEventListener("visibilitychange", () => {
    if (over) return;
    if (document.hidden) source?.close();
    else open();
  });
  open();
})();
