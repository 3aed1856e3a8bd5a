"use strict";
// Draws the tables of charts: parts as bars on each other, shares as a line in percent. The table stays the truth.
(() => {
  const colour = (tone, of) => getComputedStyle(of).getPropertyValue(`--chart-${tone}`).trim();
  const ink = (name, of) => getComputedStyle(of).getPropertyValue(name).trim();
  const numbers = (table, column) => [...table.tBodies[0].rows].map((row) => {
    const value = row.cells[column].dataset.value;
    return value === "" ? null : Number(value);
  });

  const read = (table) => {
    const heads = [...table.tHead.rows[0].cells].slice(1);
    return {
      days: [...table.tBodies[0].rows].map((row) => row.cells[0].textContent),
      series: heads.map((head, at) => ({
        label: head.textContent, kind: head.dataset.kind, tone: head.dataset.tone, values: numbers(table, at + 1),
        shown: [...table.tBodies[0].rows].map((row) => row.cells[at + 1].textContent),
      })),
    };
  };

  // Bars that stand on each other are drawn from the highest to the lowest, each from the ground.
  const stacked = (parts) => parts.map((_, at) => parts[0].values.map((_, day) => {
    const below = parts.slice(0, at + 1).map((part) => part.values[day]);
    return below.every((value) => value === null) ? null : below.reduce((sum, value) => sum + (value ?? 0), 0);
  }));

  const options = (box, found, width) => {
    const soft = ink("--soft", box), edge = ink("--edge", box);
    const font = `12px ${getComputedStyle(box).fontFamily}`;
    const parts = found.series.filter((each) => each.kind === "part");
    const shares = found.series.filter((each) => each.kind === "share");
    const bars = uPlot.paths.bars({ size: [0.72, 40, 1], radius: 0.15 });
    const axis = { stroke: soft, font, grid: { stroke: edge, width: 1 }, ticks: { show: false } };
    const unit = box.unit;
    return {
      width, height: 180, legend: { show: false }, padding: [10, shares.length ? 0 : 12, 0, 0],
      cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
      scales: {
        x: { time: false, range: (plot, low, high) => [low - 0.6, high + 0.6] },
        y: { range: (plot, low, high) => [0, Math.max(high * 1.08, unit ? 0.05 : 1)] },
        "%": { range: [0, 105] },
      },
      axes: [
        { ...axis, grid: { show: false }, size: 26, gap: 4, space: 64, incrs: [1, 2, 7, 14, 30],
          values: (plot, splits) => splits.map((at) => (found.days[at] || "").slice(5)) },
        { ...axis, size: 52, space: 36, incrs: unit ? undefined : [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000],
          values: (plot, splits) => splits.map((value) => unit + value.toLocaleString("en", { maximumFractionDigits: 2 })) },
        ...(shares.length ? [{ ...axis, scale: "%", side: 1, size: 46, grid: { show: false }, incrs: [25, 50],
          values: (plot, splits) => splits.map((value) => `${value} %`) }] : []),
      ],
      series: [
        {},
        ...parts.map((each) => ({ scale: "y", paths: bars, points: { show: false }, width: 0,
          fill: colour(each.tone, box), stroke: colour(each.tone, box) })).reverse(),
        ...shares.map((each) => ({ scale: "%", width: 1.5, spanGaps: true, stroke: colour(each.tone, box),
          points: { show: found.days.length < 10, size: 6, fill: colour(each.tone, box) } })),
      ],
      hooks: { setCursor: [(plot) => box.tell(plot.cursor.idx)] },
    };
  };

  const drawings = new Map();
  const draw = (box) => {
    const table = document.getElementById(box.dataset.chart);
    if (!table || !box.clientWidth) return;
    const found = read(table);
    const line = box.nextElementSibling;
    box.unit = table.dataset.unit;
    box.tell = (at) => {
      const day = at === null || at === undefined ? "" : found.days[at];
      line.textContent = day ? `${day} · ${found.series.map((each) => `${each.label}: ${each.shown[at]}`).join(" · ")}` : "\u00a0";
    };
    const parts = found.series.filter((each) => each.kind === "part");
    const data = [found.days.map((_, at) => at), ...stacked(parts).reverse(),
      ...found.series.filter((each) => each.kind === "share").map((each) => each.values)];
    box.replaceChildren();
    drawings.get(box)?.destroy();
    drawings.set(box, new uPlot(options(box, found, box.clientWidth), data, box));
  };

  const all = () => {
    for (const [box, drawing] of drawings) if (!box.isConnected) { drawing.destroy(); drawings.delete(box); }
    document.querySelectorAll(".chart[data-chart]").forEach(draw);
  };
  let timer = 0;
  const soon = () => { clearTimeout(timer); timer = setTimeout(all, 150); };
  all();
  addEventListener("resize", soon);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", all);
  document.addEventListener("htmx:after:swap", (event) => { if (event.target.matches && event.target.matches("main, body")) all(); });
})();
