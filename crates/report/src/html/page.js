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
  // A period is drawn in its middle, the last one up to the chart's end; a sample where it was taken.
  const periods = figure.dataset.timeline === "periods";
  const drawn = starts.map((start, i) => {
    if (!periods) return start;
    return start + (i + 1 < starts.length ? Math.min(step, starts[i + 1] - start) : from + span - start) / 2;
  });
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
    const x = plot.left + (drawn[at] - from) / span * (plot.right - plot.left);
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
    const nearer = !periods && index > 0 && index < starts.length && starts[index] - time < time - starts[index - 1];
    show(nearer ? index : index - 1);
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
  const units = [[72e5, 36e5, "h"], [12e4, 6e4, "m"], [999.5, 1e3, "s"], [0.9995, 1, "ms"], [1e-3, 1e-3, "us"]];
  const [, scale, unit] = units.find(([least]) => ms >= least) ?? [0, 1e-6, "ns"];
  const value = ms / scale;
  return value.toFixed(unit === "ns" || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2) + unit;
}

for (const figure of document.querySelectorAll("[data-flame]")) flame(figure);

// Zoom by click or Enter, back by Escape; arrows go to callers, callees and neighbours; a search marks frames and adds
// their shares up.
function flame(figure) {
  const svg = figure.querySelector("svg");
  const readout = figure.querySelector("[data-flame-readout]");
  const search = figure.querySelector("[data-flame-search]");
  const turn = figure.querySelector("[data-flame-turn]");
  const height = Number(svg.dataset.height);
  const frames = [...svg.querySelectorAll("g")].map((g) => ({
    g, rect: g.querySelector("rect"), text: g.querySelector("text"), title: g.querySelector("title").textContent,
    x: Number(g.dataset.x), w: Number(g.dataset.w), d: Number(g.dataset.d),
  }));
  if (!frames.length) return;
  figure.querySelector(".flame-tools").hidden = false;
  const all = { x: 0, w: 1200, d: -1 };
  let zoomed = all;
  let at = null;
  let icicle = false;
  const inside = (inner, outer) => inner.x >= outer.x - 0.01 && inner.x + inner.w <= outer.x + outer.w + 0.01;

  function draw() {
    for (const frame of frames) {
      const above = frame.d < zoomed.d && inside(zoomed, frame);
      const shown = above || (frame.d >= zoomed.d && inside(frame, zoomed));
      frame.g.setAttribute("visibility", shown ? "visible" : "hidden");
      if (!shown) continue;
      const x = above ? 0 : (frame.x - zoomed.x) / zoomed.w * 1200;
      const w = above ? 1200 : frame.w / zoomed.w * 1200;
      const y = icicle ? frame.d * 17 : height - (frame.d + 1) * 17;
      frame.rect.setAttribute("x", x);
      frame.rect.setAttribute("y", y);
      frame.rect.setAttribute("width", Math.max(0.2, w - 0.4));
      label(frame, x, y, w);
    }
  }

  function label(frame, x, y, w) {
    const room = Math.floor((w - 6) / 6.3);
    if (!frame.text && room >= 3) {
      frame.text = document.createElementNS(svg.namespaceURI, "text");
      frame.g.append(frame.text);
    }
    if (!frame.text) return;
    const name = frame.title.split(" · ")[0];
    const short = name.slice(name.split("[")[0].lastIndexOf("/") + 1);
    frame.text.textContent = room < 3 ? "" : short.length <= room ? short : short.slice(0, room - 1) + "…";
    frame.text.setAttribute("x", x + 3);
    frame.text.setAttribute("y", y + 12);
  }

  function point(frame) {
    if (at) at.g.classList.remove("at");
    at = frame;
    if (!frame) return;
    frame.g.classList.add("at");
    readout.textContent = frame.title;
  }

  function zoom(frame) {
    zoomed = frame;
    draw();
  }

  function find() {
    const wanted = search.value.trim().toLowerCase();
    let sum = 0;
    let end = -1;
    for (const frame of frames) {
      const found = wanted !== "" && frame.title.split(" · ")[0].toLowerCase().includes(wanted);
      frame.g.classList.toggle("found", found);
      // Of frames within each other the outermost counts; frames come from left to right, outer ones first.
      if (found && frame.x + frame.w > end + 0.01) {
        sum += frame.w;
        end = frame.x + frame.w;
      }
    }
    svg.classList.toggle("searched", wanted !== "");
    if (wanted) readout.textContent = `${wanted}: ${(sum / 12).toFixed(2)} % of the profile`;
  }

  for (const frame of frames) {
    frame.g.addEventListener("click", () => { point(frame); zoom(frame); });
    frame.g.addEventListener("pointerenter", () => { readout.textContent = frame.title; });
  }
  search.addEventListener("input", find);
  turn.addEventListener("click", () => {
    icicle = !icicle;
    turn.setAttribute("aria-pressed", String(icicle));
    draw();
  });
  figure.querySelector("[data-flame-reset]").addEventListener("click", () => zoom(all));
  svg.setAttribute("tabindex", "0");
  svg.addEventListener("keydown", (event) => {
    const up = icicle ? "ArrowUp" : "ArrowDown";
    const down = icicle ? "ArrowDown" : "ArrowUp";
    const row = at ? frames.filter((frame) => frame.d === at.d) : [];
    const next = {
      [up]: () => frames.find((frame) => frame.d === at.d - 1 && inside(at, frame)),
      [down]: () => frames.find((frame) => frame.d === at.d + 1 && inside(frame, at)),
      ArrowLeft: () => row[row.indexOf(at) - 1],
      ArrowRight: () => row[row.indexOf(at) + 1],
    }[event.key];
    if (event.key === "Escape") zoom(all);
    else if (event.key === "Enter" && at) zoom(at);
    else if (next) {
      event.preventDefault();
      point(at ? next() ?? at : frames[0]);
    }
  });
}
