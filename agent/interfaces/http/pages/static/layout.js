"use strict";
// A worker: where the notes of the graph stand. Links pull, notes push each other away, everything is drawn a little to
// the middle. Far notes push together, by the cells of a grid, so that a step of 5,000 notes takes some milliseconds.
// In: {id, count, edges, x, y}, where x and y are NaN for a note that is new. Out: {id, x, y, done}, now and then.
const STEPS = 200, EVERY = 90, LENGTH = 30, PUSH = 34, MIDDLE = 0.028, REACH = 700;
let present = 0;

onmessage = ({ data }) => { present = data.id; begin(data); };

const begin = ({ id, count, edges, x, y }) => {
  const degree = new Uint16Array(count);
  for (const end of edges) degree[end] += 1;
  let isNew = 0;
  for (let at = 0; at < count; at += 1) {
    if (!Number.isNaN(x[at])) continue;
    isNew += 1;
    const far = 11 * Math.sqrt(at + 0.5), angle = at * 2.399963;
    x[at] = far * Math.cos(angle);
    y[at] = far * Math.sin(angle);
  }
  const vx = new Float32Array(count), vy = new Float32Array(count);
  const world = { count, edges, degree, x, y, vx, vy };
  let alpha = isNew * 4 > count ? 1 : 0.25;
  const decay = 1 - Math.pow(0.002, 1 / STEPS);
  let last = performance.now();
  const run = () => {
    if (present !== id) return;
    const began = performance.now();
    while (alpha > 0.002 && performance.now() - began < 30) { step(world, alpha); alpha *= 1 - decay; }
    const done = alpha <= 0.002;
    if (done || performance.now() - last > EVERY) {
      last = performance.now();
      postMessage({ id, x: x.slice(), y: y.slice(), done });
    }
    if (!done) setTimeout(run);
  };
  run();
};

const step = (world, alpha) => {
  pull(world, alpha);
  push(world, alpha);
  const { count, x, y, vx, vy } = world;
  for (let at = 0; at < count; at += 1) {
    vx[at] = (vx[at] - x[at] * MIDDLE * alpha) * 0.6;
    vy[at] = (vy[at] - y[at] * MIDDLE * alpha) * 0.6;
    x[at] += vx[at];
    y[at] += vy[at];
  }
};

const pull = ({ edges, degree, x, y, vx, vy }, alpha) => {
  for (let at = 0; at < edges.length; at += 2) {
    const one = edges[at], other = edges[at + 1];
    const dx = x[other] + vx[other] - x[one] - vx[one] || 0.01, dy = y[other] + vy[other] - y[one] - vy[one] || 0.01;
    const far = Math.hypot(dx, dy);
    const much = ((far - LENGTH) / far) * alpha / Math.min(degree[one], degree[other]);
    const share = degree[one] / (degree[one] + degree[other]);
    vx[other] -= dx * much * share;
    vy[other] -= dy * much * share;
    vx[one] += dx * much * (1 - share);
    vy[one] += dy * much * (1 - share);
  }
};

// The notes of a cell and of those beside it push each other one by one; what is farther away pushes the whole cell.
const push = (world, alpha) => {
  const grid = cells(world), much = PUSH * alpha;
  const { vx, vy } = world;
  for (let cell = 0; cell < grid.used.length; cell += 1) {
    const here = grid.used[cell], column = here % grid.side, row = (here - column) / grid.side;
    let fx = 0, fy = 0;
    for (let number = 0; number < grid.used.length; number += 1) {
      const there = grid.used[number], otherColumn = there % grid.side, otherRow = (there - otherColumn) / grid.side;
      const across = column - otherColumn, along = row - otherRow;
      if (across < 2 && across > -2 && along < 2 && along > -2) { pushNear(world, grid, here, there, much); continue; }
      const dx = grid.x[here] - grid.x[there], dy = grid.y[here] - grid.y[there], square = dx * dx + dy * dy;
      if (square > REACH * REACH) continue;
      const by = (much * (grid.start[there + 1] - grid.start[there])) / square;
      fx += dx * by;
      fy += dy * by;
    }
    for (let number = grid.start[here]; number < grid.start[here + 1]; number += 1) {
      vx[grid.order[number]] += fx;
      vy[grid.order[number]] += fy;
    }
  }
};

const pushNear = ({ x, y, vx, vy }, { start, order }, here, there, much) => {
  for (let number = start[here]; number < start[here + 1]; number += 1) {
    const at = order[number];
    let fx = 0, fy = 0;
    for (let other = start[there]; other < start[there + 1]; other += 1) {
      const it = order[other];
      if (it === at) continue;
      const dx = x[at] - x[it] || (at - it) * 0.01, dy = y[at] - y[it] || (it - at) * 0.01;
      const by = much / Math.max(dx * dx + dy * dy, 9);
      fx += dx * by;
      fy += dy * by;
    }
    vx[at] += fx;
    vy[at] += fy;
  }
};

// The notes sorted into the cells of a grid, with the middle of each cell's notes.
const cells = ({ count, x, y }) => {
  let left = Infinity, top = Infinity, right = -Infinity, bottom = -Infinity;
  for (let at = 0; at < count; at += 1) {
    if (x[at] < left) left = x[at];
    if (x[at] > right) right = x[at];
    if (y[at] < top) top = y[at];
    if (y[at] > bottom) bottom = y[at];
  }
  const side = Math.max(3, Math.min(32, Math.round(Math.sqrt(count) / 2)));
  const size = Math.max(right - left, bottom - top, 1) * 1.001 / side;
  const of = new Uint16Array(count), start = new Uint32Array(side * side + 1), order = new Uint16Array(count);
  for (let at = 0; at < count; at += 1) {
    of[at] = Math.floor((y[at] - top) / size) * side + Math.floor((x[at] - left) / size);
    start[of[at] + 1] += 1;
  }
  for (let cell = 0; cell < side * side; cell += 1) start[cell + 1] += start[cell];
  const next = start.slice(), middleX = new Float32Array(side * side), middleY = new Float32Array(side * side);
  for (let at = 0; at < count; at += 1) {
    order[next[of[at]]++] = at;
    middleX[of[at]] += x[at];
    middleY[of[at]] += y[at];
  }
  const used = [];
  for (let cell = 0; cell < side * side; cell += 1) {
    const many = start[cell + 1] - start[cell];
    if (many) { used.push(cell); middleX[cell] /= many; middleY[cell] /= many; }
  }
  return { side, start, order, used, x: middleX, y: middleY };
};
