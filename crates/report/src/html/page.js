"use strict";
// The page reads without any of this: it adds a copy button, and a crosshair to the charts over time
// that shows the values of the table beneath.

for (const button of document.querySelectorAll("[data-copies]")) {
  const source = document.getElementById(button.dataset.copies);
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(source.textContent);
    } catch {
      getSelection().selectAllChildren(source);
      document.execCommand("copy");
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
}

for (const figure of document.querySelectorAll("[data-timeline]")) {
  const closed = figure.closest("details:not([open])");
  // What is folded away has no place on the page yet.
  if (closed) closed.addEventListener("toggle", () => prepare(figure), { once: true });
  else prepare(figure);
}

function prepare(figure) {
  const svg = figure.querySelector("svg");
  const heads = [...figure.querySelectorAll("thead th")].map((cell) => cell.textContent);
  const rows = [...figure.querySelectorAll("tbody tr")].map((row) =>
    [...row.cells].map((cell) => cell.textContent));
  const plot = plotOf(svg);
  if (plot && rows.length > 1) interact(figure, svg, plot, heads, rows);
}

// The plots' rectangle, from the lines that the chart draws: axes below, grid lines above; and the times
// at its two ends.
function plotOf(svg) {
  const { left, right, from, to } = svg.dataset;
  const boxes = (name) => [...svg.querySelectorAll("." + name)].map((line) => line.getBBox());
  const axes = boxes("axis").filter((box) => box.width > 50);
  const grid = boxes("grid").filter((box) => box.width > 50);
  if (!axes.length || !grid.length) return null;
  return {
    left: Number(left),
    right: Number(right),
    from: Number(from),
    span: Number(to) - Number(from),
    top: Math.min(...grid.map((box) => box.y)),
    bottom: Math.max(...axes.map((box) => box.y)),
  };
}

function interact(figure, svg, plot, heads, rows) {
  const starts = rows.map((row) => Number(row[0]));
  const gaps = starts.slice(1).map((start, i) => start - starts[i]).sort((a, b) => a - b);
  const step = gaps[gaps.length >> 1] || 1;
  const { from, span } = plot;
  const hair = document.createElementNS(svg.namespaceURI, "line");
  hair.setAttribute("class", "crosshair");
  hair.setAttribute("y1", plot.top);
  hair.setAttribute("y2", plot.bottom);
  hair.setAttribute("visibility", "hidden");
  svg.append(hair);
  const readout = document.createElement("div");
  readout.className = "readout soft";
  readout.setAttribute("aria-live", "polite");
  const hint = "Point at the chart, or focus it and press ← →, to read its figures.";
  readout.textContent = hint;
  figure.querySelector(".plot").after(readout);
  svg.setAttribute("tabindex", "0");
  let at = -1;

  function show(index) {
    at = Math.max(0, Math.min(rows.length - 1, index));
    const x = plot.left + (starts[at] + step / 2 - from) / span * (plot.right - plot.left);
    hair.setAttribute("x1", x);
    hair.setAttribute("x2", x);
    hair.setAttribute("visibility", "visible");
    readout.className = "readout";
    readout.replaceChildren(...heads.flatMap((head, i) => {
      if (rows[at][i] === "") return [];
      const item = document.createElement("span");
      const value = document.createElement("strong");
      const [name, text] = readable(head, rows[at][i]);
      value.textContent = text;
      item.append(name + " ", value);
      return [item];
    }));
  }

  function hide() {
    at = -1;
    hair.setAttribute("visibility", "hidden");
    readout.className = "readout soft";
    readout.textContent = hint;
  }

  svg.addEventListener("pointermove", (event) => {
    const point = new DOMPoint(event.clientX, event.clientY);
    const { x } = point.matrixTransform(svg.getScreenCTM().inverse());
    const share = (x - plot.left) / (plot.right - plot.left);
    if (share < 0 || share > 1) return hide();
    const time = from + share * span;
    let index = starts.findIndex((start) => start > time);
    if (index < 0) index = starts.length;
    show(index - 1);
  });
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("blur", hide);
  svg.addEventListener("keydown", (event) => {
    const moves = {
      ArrowLeft: at - 1,
      ArrowRight: at + 1,
      PageUp: at - 10,
      PageDown: at + 10,
      Home: 0,
      End: rows.length - 1,
    };
    if (event.key === "Escape") return hide();
    if (!(event.key in moves)) return;
    event.preventDefault();
    show(moves[event.key]);
  });
}

// A column's name and a figure of it, written as everywhere on the page: the unit stands at the figure.
function readable(head, text) {
  const [, name, unit] = head.match(/^(.*?)(?: \((ms|1\/s)\))?$/);
  const value = Number(text);
  if (!Number.isFinite(value)) return [name, text];
  if (unit === "ms") return [name, duration(value)];
  const digits = Number.isInteger(value) || value >= 100 ? 0 : 2;
  const figure = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return [name, value.toLocaleString("en", figure) + (unit ? "/s" : "")];
}

function duration(ms) {
  const units = [[72e5, 36e5, "h"], [12e4, 6e4, "m"], [1e3, 1e3, "s"], [1, 1, "ms"], [1e-3, 1e-3, "us"]];
  const [, scale, unit] = units.find(([least]) => ms >= least) ?? [0, 1e-6, "ns"];
  const value = ms / scale;
  return value.toFixed(unit === "ns" || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2) + unit;
}
