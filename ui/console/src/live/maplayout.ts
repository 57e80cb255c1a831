// SPDX-License-Identifier: Apache-2.0

/* Where the cells of the map of GPUs lie. Detail follows size: cells shrink until the map fits, then one cell is a node. */
import type { GpuCell, NodeGroup, Places } from './gpus';
import type { NodeRow } from './rows';

export interface MapCell {
  x: number;
  y: number;
  node: NodeRow;
  /** The GPU of the cell; null where one cell is a whole node. */
  gpu: GpuCell | null;
}

export interface MapBox {
  group: NodeGroup;
  x: number;
  y: number;
  width: number;
  rows: { node: NodeRow; label: string; y: number; x: number; cells: number }[];
}

export interface MapSizes {
  cell: number;
  tall: number;
  pitch: number;
  rowPitch: number;
  label: number;
  head: number;
  isByNode: boolean;
}

export interface MapLayout {
  width: number;
  height: number;
  sizes: MapSizes;
  boxes: MapBox[];
  cells: MapCell[];
}

const GAP = 22;
const LABEL_PIXELS = 6.2;

/** Names without what all of them begin with, up to its last separator or the zeros before a number. */
export function shortNames(names: string[]): string[] {
  const first = names[0] ?? '';
  let same = names.length > 1 ? first.length : 0;
  for (const name of names) while (same > 0 && !name.startsWith(first.slice(0, same))) same--;
  const cut = /^(.*[-._:/])0*/.exec(first.slice(0, same));
  const head = cut ? cut[0] : '';
  return names.map((name) => (name.length > head.length ? name.slice(head.length) : name));
}

function sizesFor(cell: number, label: number): MapSizes {
  const gap = cell >= 12 ? 3 : cell >= 6 ? 2 : 1;
  const tall = cell >= 12 ? cell + 3 : cell;
  return { cell, tall, pitch: cell + gap, rowPitch: tall + (cell >= 12 ? 7 : cell >= 6 ? 4 : 2), label: cell >= 10 ? label : 0, head: 22, isByNode: false };
}

/** The number of rows in each column of a group, so that all groups have about the same height. */
function columnRows(group: NodeGroup, rows: number): number {
  const columns = Math.ceil(group.nodes.length / rows);
  return Math.ceil(group.nodes.length / columns);
}

interface Draft {
  height: number;
  boxes: MapBox[];
}

function place(groups: NodeGroup[], names: Map<string, string>, sizes: MapSizes, width: number, most: number, rows: number): Draft {
  const boxes: MapBox[] = [];
  let [x, y, lowest] = [0, 0, 0];
  for (const group of groups) {
    const perColumn = columnRows(group, rows);
    for (let from = 0; from < group.nodes.length; from += perColumn) {
      const nodes = group.nodes.slice(from, from + perColumn);
      const boxWidth = sizes.label + most * sizes.pitch + 2;
      if (x > 0 && x + boxWidth > width) [x, y] = [0, lowest + 12];
      const box: MapBox = { group: from === 0 ? group : { ...group, title: '', note: '' }, x, y, width: boxWidth, rows: [] };
      nodes.forEach((node, i) => box.rows.push({ node, label: names.get(node.id) ?? node.name, x: x + sizes.label, y: y + sizes.head + i * sizes.rowPitch + 2, cells: node.gpus }));
      boxes.push(box);
      lowest = Math.max(lowest, y + sizes.head + nodes.length * sizes.rowPitch);
      x += boxWidth + (sizes.cell >= 6 ? GAP : 8);
    }
  }
  return { height: lowest, boxes };
}

function layByNode(groups: NodeGroup[], width: number): MapLayout {
  const sizes: MapSizes = { cell: 5, tall: 5, pitch: 6, rowPitch: 6, label: 0, head: 20, isByNode: true };
  const perRow = Math.max(1, Math.floor(width / sizes.pitch));
  const cells: MapCell[] = [];
  const boxes: MapBox[] = [];
  let y = 0;
  for (const group of groups) {
    boxes.push({ group, x: 0, y, width, rows: [] });
    y += sizes.head;
    group.nodes.forEach((node, i) => cells.push({ x: (i % perRow) * sizes.pitch, y: y + Math.floor(i / perRow) * sizes.rowPitch, node, gpu: null }));
    y += Math.ceil(group.nodes.length / perRow) * sizes.rowPitch + 10;
  }
  return { width, height: Math.max(y, 24), sizes, boxes, cells };
}

/** `limit` is the height that the map may have before its cells shrink. */
export function layMap(groups: NodeGroup[], places: Places, width: number, limit: number): MapLayout {
  const nodes = groups.flatMap((group) => group.nodes);
  const most = nodes.reduce((max, node) => Math.max(max, node.gpus), 1);
  const names = new Map<string, string>();
  for (const group of groups) shortNames(group.nodes.map((node) => node.name)).forEach((name, i) => names.set(group.nodes[i]!.id, name.slice(0, 14)));
  const longest = [...names.values()].reduce((max, name) => Math.max(max, name.length), 1);
  const label = Math.min(longest * LABEL_PIXELS + 10, 100);
  for (const cell of [22, 18, 15, 13, 10, 8, 6, 4, 3]) {
    const sizes = sizesFor(cell, label);
    if (sizes.label + most * sizes.pitch > width && cell > 3) continue;
    for (const rows of [8, 12, 16, 24, 40, 80, 160]) {
      const draft = place(groups, names, sizes, width, most, rows);
      if (draft.height > limit) continue;
      return finish(draft, places, sizes, width);
    }
  }
  return layByNode(groups, width);
}

function finish(draft: Draft, places: Places, sizes: MapSizes, width: number): MapLayout {
  const cells: MapCell[] = [];
  for (const box of draft.boxes) {
    for (const row of box.rows) {
      for (const gpu of places.cells(row.node)) {
        if (gpu.index < row.node.gpus) cells.push({ x: row.x + gpu.index * sizes.pitch, y: row.y, node: row.node, gpu });
      }
    }
  }
  return { width, height: Math.max(draft.height, 24), sizes, boxes: draft.boxes, cells };
}

/** The cell at a point; the gap to the next cell belongs to it. */
export function cellAt(layout: MapLayout, x: number, y: number): number {
  const { pitch, rowPitch } = layout.sizes;
  return layout.cells.findIndex((cell) => x >= cell.x - 1 && x < cell.x + pitch && y >= cell.y - 2 && y < cell.y + rowPitch - 2);
}

/** The nearest cell in a direction, or `from` where there is none. */
export function moveFrom(layout: MapLayout, from: number, dx: number, dy: number): number {
  const start = layout.cells[from];
  if (!start) return layout.cells.length > 0 ? 0 : -1;
  let best = from;
  let least = Infinity;
  layout.cells.forEach((cell, i) => {
    const ahead = dx ? (cell.x - start.x) * dx : (cell.y - start.y) * dy;
    const aside = Math.abs(dx ? cell.y - start.y : cell.x - start.x);
    if (ahead <= 0 || (dx !== 0 && aside > 2)) return;
    const far = ahead + aside * 4;
    if (far < least) [least, best] = [far, i];
  });
  return best;
}
