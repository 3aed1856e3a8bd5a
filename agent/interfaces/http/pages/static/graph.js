"use strict";
// The picture of the links: drawn by force-graph; which note is meant, what is said of it, and keys are done here.
// No text of a note ever becomes markup: names are drawn on the canvas or set as text.
(() => {
  const element = document.getElementById("graph");
  const box = document.getElementById("graph-box");
  if (!element || !box) return;
  const words = document.getElementById("graph-words").dataset;
  const wait = document.getElementById("graph-wait");
  const told = document.getElementById("graph-at");
  const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const BIG = 800;            // notes from which lines are thin
  const NEAR = 14;            // pixels within which a pointer means a note
  const LABELS = 60;          // names drawn at once

  let nodes = Object.assign([], { ranked: [] }), links = [], chosen = null, under = null, hasMoved = false, edition = 0, colours = {};
  const readColours = () => {
    const style = getComputedStyle(element);
    for (const name of ["node", "edge", "thin", "lit", "label"]) colours[name] = style.getPropertyValue(`--graph-${name}`).trim();
    colours.dim = style.getPropertyValue("--chart-dim").trim();
    colours.sheet = style.getPropertyValue("--sheet").trim();
    colours.font = style.fontFamily;
  };
  const radius = (node) => 2 + Math.min(Math.sqrt(node.links), 10);
  const title = (node) => node.path.slice(node.path.lastIndexOf("/") + 1).replace(/\.md$/, "");
  const address = (node) => `/notes/${node.path.split("/").map(encodeURIComponent).join("/")}`;
  const linksOf = (node) => (node.links === 1 ? words.linksOne : words.linksMany).replace("{count}", node.links);
  const height = () => Math.round(Math.max(280, Math.min(innerHeight * 0.62, 640)));

  const graph = new ForceGraph(element)
    .nodeId("id").nodeLabel(() => "").linkLabel(() => "").enablePointerInteraction(false).enableNodeDrag(false)
    .linkColor(() => (nodes.length > BIG ? colours.thin : colours.edge)).linkWidth(() => (nodes.length > BIG ? 0.6 : 1.1)).minZoom(0.05).maxZoom(12)
    .nodeCanvasObject((node, context, scale) => drawNode(node, context, scale))
    .onRenderFramePost((context, scale) => drawOver(context, scale))
    .onZoom(() => { if (document.activeElement === element || under) hasMoved = true; })
    .warmupTicks(0).cooldownTicks(0);

  const drawNode = (node, context, scale) => {
    context.fillStyle = node.match ? colours.node : colours.dim;
    const size = Math.max(radius(node), 1.1 / scale);
    if (size * scale < 2.2) { context.fillRect(node.x - size, node.y - size, 2 * size, 2 * size); return; }
    context.beginPath();
    context.arc(node.x, node.y, size, 0, 6.2832);
    context.fill();
  };
  // What is meant now, its links and neighbours, and the names that fit.
  const drawOver = (context, scale) => {
    const lit = chosen || under;
    const near = new Set();
    if (lit) {
      context.strokeStyle = colours.lit;
      context.lineWidth = 1.4 / scale;
      context.beginPath();
      for (const link of lit.around) {
        const other = link.source === lit ? link.target : link.source;
        near.add(other);
        context.moveTo(lit.x, lit.y);
        context.lineTo(other.x, other.y);
      }
      context.stroke();
      context.fillStyle = colours.lit;
      context.beginPath();
      context.arc(lit.x, lit.y, Math.max(radius(lit) + 1.5 / scale, 4 / scale), 0, 6.2832);
      context.fill();
    }
    const named = lit ? [lit, ...[...near].sort((one, other) => other.links - one.links).slice(0, LABELS / 3)] : [];
    drawNames(context, scale, named);
  };
  const drawNames = (context, scale, first) => {
    const size = 12 / scale;
    context.font = `${size}px ${colours.font}`;
    context.textAlign = "center";
    context.textBaseline = "top";
    const { x: left, y: top } = graph.screen2GraphCoords(0, 0);
    const { x: right, y: bottom } = graph.screen2GraphCoords(graph.width(), graph.height());
    const most = nodes.length > 200 && scale < 0.9 ? LABELS / 4 : LABELS;
    const places = [];
    let count = 0;
    for (const node of [...first, ...nodes.ranked]) {
      if (count >= most + first.length) break;
      if (node.x < left || node.x > right || node.y < top || node.y > bottom) continue;
      const name = title(node).slice(0, 40);
      const width = context.measureText(name).width, y = node.y + radius(node) + 2 / scale;
      const x = Math.max(Math.min(node.x, right - width / 2), left + width / 2);  // whole, at the border as well
      const place = [x - width / 2, y, x + width / 2, y + size];
      const isFree = places.every((each) => each[2] < place[0] || each[0] > place[2] || each[3] < place[1] || each[1] > place[3]);
      if (!isFree && !(node === first[0])) continue;
      places.push(place);
      count += 1;
      context.lineWidth = 3 / scale;
      context.strokeStyle = colours.sheet;
      context.strokeText(name, x, y);
      context.fillStyle = node === first[0] ? colours.lit : colours.label;
      context.fillText(name, x, y);
    }
  };
  const redraw = () => graph.nodeRelSize(4);  // any setting of it has a frame drawn
  const fit = () => graph.zoomToFit(isCalm ? 0 : 300, 30);

  const tell = () => {
    const node = chosen || under;
    told.textContent = node ? `${title(node)} · ${linksOf(node)} · ${node.path}` : "\u00a0";
    element.style.cursor = under ? "pointer" : "grab";
    redraw();
  };
  const open = (node) => { if (node) location.assign(address(node)); };
  const nearest = (event) => {
    const at = element.getBoundingClientRect();
    const { x, y } = graph.screen2GraphCoords(event.clientX - at.left, event.clientY - at.top);
    const reach = NEAR / graph.zoom();
    let best = null, least = Infinity;
    for (const node of nodes) {
      const distance = Math.hypot(node.x - x, node.y - y) - radius(node);
      if (distance < least) { least = distance; best = node; }
    }
    return least <= reach ? best : null;
  };

  // The pointer: a press that does not move is a click.
  let pressed = null;
  element.addEventListener("pointermove", (event) => {
    if (pressed && Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) > 5) { pressed.moved = true; hasMoved = true; }
    if (event.buttons) return;
    const found = nearest(event);
    if (found !== under) { under = found; if (found) chosen = null; tell(); }
  });
  element.addEventListener("pointerleave", () => { if (under) { under = null; tell(); } });
  element.addEventListener("pointerdown", (event) => { pressed = { x: event.clientX, y: event.clientY, moved: false, at: nearest(event) }; }, true);
  element.addEventListener("click", (event) => {
    const was = pressed;
    pressed = null;
    if (was && was.moved) return;
    open(nearest(event));
  });

  // Keys: arrows go to the nearest note in that direction, Enter opens it.
  const towards = (dx, dy) => {
    if (!chosen) return nodes.ranked[0];
    let best = null, least = Infinity;
    for (const node of nodes) {
      if (node === chosen) continue;
      const x = node.x - chosen.x, y = node.y - chosen.y;
      const along = x * dx + y * dy, across = Math.abs(x * dy) + Math.abs(y * dx);
      if (along <= 0.5 || across > along * 1.6) continue;
      const distance = along + 2 * across;
      if (distance < least) { least = distance; best = node; }
    }
    return best || chosen;
  };
  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const choose = (node) => {
    if (!node) return;
    chosen = node;
    const at = graph.graph2ScreenCoords(node.x, node.y);
    const isOutside = at.x < 30 || at.y < 30 || at.x > graph.width() - 30 || at.y > graph.height() - 30;
    if (isOutside) graph.centerAt(node.x, node.y, isCalm ? 0 : 200);
    hasMoved = true;
    tell();
  };
  const closer = (factor) => { hasMoved = true; graph.zoom(graph.zoom() * factor, isCalm ? 0 : 150); };
  const KEYS = {
    Enter: () => open(chosen), "+": () => closer(1.4), "=": () => closer(1.4), "-": () => closer(1 / 1.4),
    0: () => { hasMoved = false; fit(); }, Escape: () => { chosen = null; tell(); },
  };
  element.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !nodes.length) return;
    const arrow = ARROWS[event.key], act = arrow ? () => choose(towards(...arrow)) : KEYS[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  });
  box.addEventListener("click", (event) => {
    const what = event.target.dataset && event.target.dataset.do;
    if (what === "in") closer(1.4);
    else if (what === "out") closer(1 / 1.4);
    else if (what === "fit") { hasMoved = false; fit(); }
  });
  // A note of the list that has the focus, or the pointer, is shown in the picture.
  const fromList = (event) => {
    const link = event.target.closest && event.target.closest("#graph-notes ul a");
    const path = link && decodeURIComponent(link.pathname.replace("/notes/", ""));
    const node = link && nodes.find((each) => each.path === path);
    if (node && node !== chosen) { chosen = node; tell(); }
  };
  document.addEventListener("focusin", fromList);
  document.addEventListener("pointerover", fromList);

  const show = (data) => {
    const before = new Map(nodes.map((node) => [node.path, node]));
    nodes = data.paths.map((path, id) => {
      const old = before.get(path);
      const [x, y] = old ? [old.x, old.y] : [NaN, NaN];
      return { id, path, links: data.links[id], match: Boolean(data.matches[id]), around: [], x, y };
    });
    links = [];
    for (let at = 0; at < data.edges.length; at += 2) {
      const link = { source: nodes[data.edges[at]], target: nodes[data.edges[at + 1]] };
      link.source.around.push(link);
      link.target.around.push(link);
      links.push(link);
    }
    nodes.ranked = [...nodes].sort((one, other) => other.match - one.match || other.links - one.links).slice(0, 600);
    chosen = under = null;
    wait.hidden = nodes.length > 0;
    wait.textContent = words.nothing;
    delete element.dataset.still;
    graph.graphData({ nodes, links });
    element.dataset.notes = String(nodes.length);
    edition += 1;
    worker.postMessage({ id: edition, count: nodes.length, edges: Uint16Array.from(data.edges),
      x: Float32Array.from(nodes, (node) => node.x), y: Float32Array.from(nodes, (node) => node.y) });
    tell();
  };
  // The layout is a worker's: however many notes there are, this page goes on answering.
  const worker = new Worker(box.dataset.layout);
  worker.addEventListener("message", ({ data }) => {
    if (data.id !== edition || (isCalm && !data.done)) return;
    nodes.forEach((node, at) => { node.x = data.x[at]; node.y = data.y[at]; });
    if (data.done) element.dataset.still = "yes";
    if (hasMoved) redraw();
    else graph.zoomToFit(0, 30);
  });

  let shown = "";
  const load = async () => {
    try {
      const response = await fetch(box.dataset.url, { headers: { Accept: "application/json" } });
      if (!response.ok) throw new Error(String(response.status));
      const text = await response.text();
      if (text === shown) return;
      shown = text;
      show(JSON.parse(text));
    } catch (error) {
      if (!nodes.length) { wait.hidden = false; wait.textContent = words.failed; }
    }
  };
  const resize = () => graph.width(element.clientWidth).height(height());
  readColours();
  resize();
  load();
  addEventListener("resize", () => { resize(); if (!hasMoved) fit(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColours(); redraw(); });
  let timer = 0;
  document.addEventListener("htmx:after:swap", (event) => {
    if (!event.target.matches || !event.target.matches("main")) return;
    clearTimeout(timer);
    timer = setTimeout(load, 400);
  });
})();
