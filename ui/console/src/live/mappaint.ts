// SPDX-License-Identifier: Apache-2.0

/* Paints the map of GPUs on a canvas. Only cells whose look has changed are painted again. */
import type { MapCell, MapLayout } from './maplayout';
import { amountText } from '../text/format';

export interface MapLook {
  /** The value of a custom property. */
  token: (name: string) => string;
  /** The custom property of a queue's colour. */
  colourOf: (queue: string) => string;
  font: string;
}

const TINT = 0.22;

/** All that the look of a cell follows from, apart from the theme. */
export function signature(cell: MapCell): string {
  const state = `${cell.node.isReady ? 1 : 0}${cell.node.isCordoned ? 1 : 0}`;
  if (!cell.gpu) return `${state}|${cell.node.gpusAllocated}/${cell.node.gpus}|${cell.node.holders[0]?.queue ?? ''}`;
  return `${state}|${cell.gpu.parts.map(({ holder, share }) => `${holder.queue}:${share}:${holder.busy === undefined ? '' : Math.round(holder.busy * 16)}`).join()}`;
}

function hatch(context: CanvasRenderingContext2D, x: number, y: number, w: number, h: number, colour: string): void {
  context.save();
  context.beginPath();
  context.rect(x, y, w, h);
  context.clip();
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.beginPath();
  for (let d = -h; d < w; d += 4) {
    context.moveTo(x + d, y + h);
    context.lineTo(x + d + h, y);
  }
  context.stroke();
  context.restore();
}

export class MapPainter {
  private colours = new Map<string, string>();
  private painted: string[] = [];

  constructor(private context: CanvasRenderingContext2D, private look: MapLook) {}

  private token(name: string): string {
    let value = this.colours.get(name);
    if (value === undefined) this.colours.set(name, value = this.look.token(name));
    return value;
  }

  private part(x: number, y: number, w: number, h: number, colour: string, busy: number | undefined): void {
    const { context } = this;
    const level = Math.round(h * (busy ?? 1));
    context.globalAlpha = TINT;
    context.fillStyle = colour;
    context.fillRect(x, y, w, h);
    context.globalAlpha = 1;
    context.fillRect(x, y + h - level, w, level);
  }

  private wholeNode(cell: MapCell, size: number): void {
    const { context } = this;
    context.fillStyle = this.token('--sunk');
    context.fillRect(cell.x, cell.y, size, size);
    if (!cell.node.isReady) {
      context.fillStyle = this.token('--faint');
      context.fillRect(cell.x, cell.y, size, 1);
      return;
    }
    const part = cell.node.gpus > 0 ? cell.node.gpusAllocated / cell.node.gpus : 0;
    if (part <= 0) return;
    context.globalAlpha = 0.3 + 0.7 * Math.min(1, part);
    context.fillStyle = this.token(this.look.colourOf(cell.node.holders[0]?.queue ?? ''));
    context.fillRect(cell.x, cell.y, size, size);
    context.globalAlpha = 1;
  }

  private cell(cell: MapCell, layout: MapLayout): void {
    const { context } = this;
    const { cell: size, tall } = layout.sizes;
    if (!cell.gpu) {
      this.wholeNode(cell, size);
      return;
    }
    const { parts } = cell.gpu;
    const radius = size >= 12 ? 3 : size >= 6 ? 1.5 : 0;
    context.clearRect(cell.x - 1, cell.y - 1, size + 2, tall + 2);
    this.plate(cell.x - 1, cell.y - 1, size + 2, tall + 2);
    context.save();
    context.beginPath();
    context.roundRect(cell.x, cell.y, size, tall, radius);
    context.clip();
    context.fillStyle = this.token('--panel');
    context.fillRect(cell.x, cell.y, size, tall);
    let left = cell.x;
    for (const { holder, share } of parts) {
      const wide = Math.max(1, Math.round(size * Math.min(1, share || 1 / parts.length)));
      this.part(left, cell.y, wide - (parts.length > 1 && size >= 8 ? 1 : 0), tall, this.token(this.look.colourOf(holder.queue)), holder.busy);
      left += wide;
    }
    if (!cell.node.isReady) hatch(context, cell.x, cell.y, size, tall, this.token('--faint'));
    context.restore();
    this.border(cell, size, tall, radius);
  }

  private border(cell: MapCell, size: number, tall: number, radius: number): void {
    const { context } = this;
    const parts = cell.gpu?.parts ?? [];
    if (size < 6) return;
    context.beginPath();
    context.roundRect(cell.x + 0.5, cell.y + 0.5, size - 1, tall - 1, Math.max(0, radius - 0.5));
    context.lineWidth = 1;
    const first = parts[0];
    if (!first) {
      context.strokeStyle = this.token(cell.node.isReady && !cell.node.isCordoned ? '--control' : '--line');
      context.setLineDash(cell.node.isReady ? [2, 2] : []);
      context.stroke();
      context.setLineDash([]);
      return;
    }
    context.strokeStyle = this.token(this.look.colourOf(first.holder.queue));
    context.globalAlpha = 0.75;
    context.stroke();
    context.globalAlpha = 1;
    if (parts.every(({ holder }) => holder.busy !== undefined && holder.busy <= 0)) {
      context.beginPath();
      context.arc(cell.x + size / 2, cell.y + tall / 2, Math.max(1.6, size / 8), 0, 7);
      context.fillStyle = this.token('--ink');
      context.fill();
    }
  }

  private plate(x: number, y: number, w: number, h: number): void {
    this.context.fillStyle = this.token('--sunk');
    this.context.fillRect(x, y, w, h);
  }

  private boxes(layout: MapLayout): void {
    const { context } = this;
    const { sizes } = layout;
    context.textBaseline = 'alphabetic';
    for (const box of layout.boxes) {
      if (box.group.title) {
        context.textAlign = 'left';
        context.font = `600 12px ${this.look.font}`;
        context.fillStyle = this.token('--ink');
        context.fillText(box.group.title, box.x + sizes.label, box.y + 13);
        const at = box.x + sizes.label + context.measureText(box.group.title).width + 7;
        context.font = `450 12px ${this.look.font}`;
        context.fillStyle = this.token('--dim');
        const held = `${amountText(box.group.allocated)} of ${box.group.gpus}`;
        const heldWidth = context.measureText(held).width;
        const right = box.x + Math.max(box.width - 3, sizes.isByNode ? 0 : sizes.label + at - box.x + heldWidth);
        if (box.group.note && at + context.measureText(box.group.note).width + heldWidth + 8 < right) context.fillText(box.group.note, at, box.y + 13);
        context.textAlign = sizes.isByNode ? 'left' : 'right';
        context.fillText(held, sizes.isByNode ? at : Math.max(right, at + heldWidth), box.y + 13);
      }
      for (const row of box.rows) {
        if (sizes.label > 0) {
          context.textAlign = 'right';
          context.font = `450 10.5px ${this.look.font}`;
          context.fillStyle = this.token('--dim');
          context.fillText(row.label, row.x - 7, row.y + sizes.tall / 2 + 4);
        }
        if (sizes.cell >= 6) {
          context.beginPath();
          context.roundRect(row.x - 2, row.y - 2, row.cells * sizes.pitch + 1, sizes.tall + 4, sizes.cell >= 12 ? 5 : 2);
          context.fillStyle = this.token('--sunk');
          context.fill();
        }
      }
    }
  }

  /** Everything anew, for another size, theme or set of nodes. */
  paintAll(layout: MapLayout): void {
    this.colours.clear();
    this.context.clearRect(-4, -4, layout.width + 8, layout.height + 8);
    this.boxes(layout);
    this.painted = layout.cells.map((cell) => signature(cell));
    for (const cell of layout.cells) this.cell(cell, layout);
  }

  /** The cells that look otherwise now. Returns how many there were. */
  paintChanged(layout: MapLayout): number {
    let count = 0;
    layout.cells.forEach((cell, i) => {
      const now = signature(cell);
      if (now === this.painted[i]) return;
      this.painted[i] = now;
      this.cell(cell, layout);
      count++;
    });
    return count;
  }
}
