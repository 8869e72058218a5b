"use strict";
(() => {
  const root = document.documentElement;
  const tip = document.getElementById("tip");
  const said = document.getElementById("said");

  // -- theme: as the system has it until the button is pressed
  const theme = document.getElementById("theme");
  const isDark = () =>
    root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const nameTheme = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    nameTheme();
  });
  nameTheme();
  theme.hidden = false;

  // -- the scale of effects
  for (const choice of document.querySelectorAll("input[name=scale]")) {
    choice.addEventListener("change", () => { root.dataset.show = choice.value; hide(); });
    if (choice.checked) root.dataset.show = choice.value;
  }

  // -- charts: marks are read out under the pointer, and by the arrow keys once a chart has focus
  let lit = null;
  const hide = () => {
    if (lit) lit.classList.remove("on");
    lit = null;
    tip.hidden = true;
  };
  const show = (mark, x, y, aloud) => {
    if (lit !== mark) hide();
    lit = mark;
    mark.classList.add("on");
    tip.textContent = mark.dataset.t;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const left = Math.min(Math.max(8, x - box.width / 2), innerWidth - box.width - 8);
    const above = y - box.height - 14;
    tip.style.left = `${left}px`;
    tip.style.top = `${above < 8 ? y + 18 : above}px`;
    if (aloud) said.textContent = mark.dataset.t;
  };
  for (const chart of document.querySelectorAll(".chart svg")) {
    const marks = [...chart.querySelectorAll("[data-t]")];
    if (!marks.length) continue;
    const move = (event) => {
      const mark = event.target.closest("[data-t]");
      if (mark) show(mark, event.clientX, event.clientY, false);
      else hide();
    };
    chart.addEventListener("pointermove", move);
    chart.addEventListener("pointerdown", move);
    chart.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") hide(); });
    chart.addEventListener("blur", hide);
    let at = -1;
    const go = (next) => {
      at = Math.min(Math.max(next, 0), marks.length - 1);
      const box = marks[at].getBoundingClientRect();
      show(marks[at], box.left + box.width / 2, box.top, true);
    };
    chart.addEventListener("focus", () => { if (chart.matches(":focus-visible")) go(Math.max(at, 0)); });
    chart.addEventListener("keydown", (event) => {
      const steps = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1,
                      PageDown: at + 10, PageUp: at - 10, Home: 0, End: marks.length - 1 };
      if (event.key === "Escape") hide();
      else if (event.key in steps) { go(steps[event.key]); event.preventDefault(); }
    });
  }
  addEventListener("scroll", () => { if (!document.activeElement.closest(".chart")) hide(); }, { passive: true });

  // -- tables: a press on a heading sorts by its column, another one the other way round
  for (const table of document.querySelectorAll("table.sorts")) {
    const headings = [...table.tHead.rows[0].cells];
    headings.forEach((heading, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      heading.append(button);
      button.addEventListener("click", () => {
        const numeric = heading.classList.contains("n");
        const before = heading.getAttribute("aria-sort");
        const falls = before ? before === "ascending" : numeric;
        for (const other of headings) other.removeAttribute("aria-sort");
        heading.setAttribute("aria-sort", falls ? "descending" : "ascending");
        const key = (row) => {
          const cell = row.cells[column];
          return numeric ? parseFloat(cell.dataset.v ?? "NaN") : cell.textContent.trim();
        };
        const sign = falls ? -1 : 1;
        const compare = (a, b) => {
          const x = key(a), y = key(b);
          if (!numeric) return sign * x.localeCompare(y, undefined, { numeric: true });
          if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
          return sign * (x - y);
        };
        const body = table.tBodies[0];
        body.append(...[...body.rows].sort(compare));
      });
    });
  }

  // -- print: what is folded is printed, too
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const one of folded) one.open = true;
  });
  addEventListener("afterprint", () => { for (const one of folded) one.open = false; });
})();
