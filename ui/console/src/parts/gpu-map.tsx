// SPDX-License-Identifier: Apache-2.0

/* The map of GPUs: a row for each node, a cell for each GPU. Pointer and arrow keys move a cursor, and a line below reads it out. */
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Places, groupNodes, type Grouping } from '../live/gpus';
import { cellAt, layMap, moveFrom, type MapCell, type MapLayout } from '../live/maplayout';
import { MapPainter } from '../live/mappaint';
import { paint, token } from '../live/paint';
import type { NodeRow } from '../live/rows';
import { gpuText } from '../live/text';
import { amountText, countText } from '../text/format';
import { Chip } from './bars';
import { Outside } from './text';
import { useWidth } from './width';

interface Props {
  nodes: ReadonlyMap<string, NodeRow>;
  colourOf: (queue: string) => string;
  grouping?: Grouping;
  /** The height that the map may have before its cells shrink. */
  height?: number;
  /** A workload whose GPUs are outlined. */
  selected?: string;
  onOpen: (cell: MapCell) => void;
}

const MOVES: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const READ_MAX = 4;
/** Room around the map for outlines. */
const EDGE = 2;

/** The name of a workload out of its id. */
export const nameOf = (id: string): string => id.split('/')[2] ?? id;

const holdersOf = (cell: MapCell) => (cell.gpu ? cell.gpu.parts.map((part) => part.holder) : cell.node.holders);

function Reading({ cell, colourOf }: { cell: MapCell | undefined; colourOf: Props['colourOf'] }) {
  if (!cell) return <span class="dim">Point at a GPU, or move with the arrow keys, to see who holds it.</span>;
  const { node, gpu } = cell;
  const holders = holdersOf(cell);
  const state = !node.isReady ? 'the node is not ready' : node.isCordoned ? 'the node is cordoned' : 'free';
  return (
    <>
      <b><Outside text={gpu ? `${node.name} GPU ${gpu.index}` : node.name} /></b>
      {!gpu && <span class="dim">{`${amountText(node.gpusAllocated)} of ${gpuText(node.gpus)} allocated`}</span>}
      {gpu && holders.length > 1 && <span class="dim">{`shared by ${holders.length}`}</span>}
      {holders.length === 0 && <span class="dim">{state}</span>}
      {holders.slice(0, READ_MAX).map((holder) => (
        <span key={`${holder.namespace}/${holder.pod}`}>
          <Chip colour={colourOf(holder.queue)} /><Outside text={holder.workload ? nameOf(holder.workload) : holder.pod} />
          <span class="dim">{[holder.queue, gpuText(holder.gpus), holder.busy === undefined ? '' : `${Math.round(holder.busy * 100)}% busy`].filter(Boolean).join(', ')}</span>
        </span>
      ))}
      {holders.length > READ_MAX && <span class="dim">{`and ${holders.length - READ_MAX} more`}</span>}
    </>
  );
}

function outline(context: CanvasRenderingContext2D, layout: MapLayout, cursor: number, workload: string): void {
  const { cell: size, tall } = layout.sizes;
  context.lineWidth = 2;
  context.strokeStyle = token('--ink');
  layout.cells.forEach((cell, i) => {
    if (i !== cursor && !(workload && holdersOf(cell).some((holder) => holder.workload === workload))) return;
    context.beginPath();
    context.roundRect(cell.x - 1, cell.y - 1, size + 2, tall + 2, size >= 12 ? 4 : 1);
    context.stroke();
  });
}

/** A context in the size of the layout, in CSS pixels. Setting the size clears a canvas, so it is set only when it differs. */
function contextOf(canvas: HTMLCanvasElement, layout: MapLayout): CanvasRenderingContext2D {
  const scale = devicePixelRatio || 1;
  const [width, height] = [Math.round((layout.width + 2 * EDGE) * scale), Math.round((layout.height + 3 * EDGE) * scale)];
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const context = canvas.getContext('2d')!;
  context.setTransform(scale, 0, 0, scale, EDGE * scale, EDGE * scale);
  return context;
}

/** All that makes a layout look otherwise than by its cells. */
const shapeOf = (layout: MapLayout): string => JSON.stringify([layout.width, layout.height, layout.sizes, layout.cells.length,
  layout.boxes.map((box) => [box.group.title, box.group.allocated, box.rows.map((row) => row.label)])]);

export function GpuMap({ nodes, colourOf, grouping = 'rack', height = 340, selected = '', onOpen }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const base = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  const places = useRef(new Places());
  const painted = useRef<{ painter: MapPainter; shape: string; paint: number } | null>(null);
  const width = useWidth(box);
  const [cursor, setCursor] = useState(-1);
  const layout = useMemo(() => layMap(groupNodes(nodes.values(), grouping), places.current, Math.max(width - 2 * EDGE, 60), height), [nodes, grouping, width, height]);
  const cell = layout.cells[cursor];
  const outlined = (cell && holdersOf(cell)[0]?.workload) || selected;
  const look = paint.value;

  useLayoutEffect(() => {
    if (!base.current || width === 0) return;
    const shape = shapeOf(layout);
    const context = contextOf(base.current, layout);
    if (painted.current?.shape === shape && painted.current.paint === look) {
      painted.current.painter.paintChanged(layout);
    } else {
      const painter = new MapPainter(context, { token, colourOf, font: getComputedStyle(document.body).fontFamily });
      painter.paintAll(layout);
      painted.current = { painter, shape, paint: look };
    }
    base.current.dataset.cells = String(layout.cells.length);
    base.current.dataset.held = String(layout.cells.filter((one) => holdersOf(one).length > 0).length);
  }, [layout, look, width, colourOf]);

  useLayoutEffect(() => {
    if (!over.current || width === 0) return;
    const context = contextOf(over.current, layout);
    context.clearRect(-EDGE, -EDGE, layout.width + 2 * EDGE, layout.height + 3 * EDGE);
    outline(context, layout, cursor, outlined);
  }, [layout, cursor, outlined, look, width]);

  const at = (event: MouseEvent): number => {
    const rect = over.current!.getBoundingClientRect();
    return cellAt(layout, event.clientX - rect.left - EDGE, event.clientY - rect.top - EDGE);
  };
  const onKey = (event: KeyboardEvent): void => {
    const move = MOVES[event.key];
    if (move) setCursor(moveFrom(layout, cursor, ...move));
    else if (event.key === 'Enter' && cell) onOpen(cell);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const total = [...nodes.values()].reduce((sum, node) => sum + node.gpus, 0);
  const allocated = [...nodes.values()].reduce((sum, node) => sum + node.gpusAllocated, 0);
  const label = `Map of ${countText(total, 'GPU')} on ${countText(nodes.size, 'node')}, ${amountText(allocated)} allocated. Arrow keys move, Enter opens the workload or the node.`;
  const style = { width: `${layout.width + 2 * EDGE}px`, height: `${layout.height + 3 * EDGE}px` };
  return (
    <>
      <div class="gpu-map" ref={box} style={{ height: style.height }}>
        <canvas ref={base} aria-hidden="true" style={style} />
        <canvas ref={over} tabIndex={0} role="application" aria-roledescription="map" aria-label={label} aria-describedby="reading" style={style}
          onMouseMove={(event) => setCursor(at(event))} onMouseLeave={() => setCursor(-1)} onBlur={() => setCursor(-1)} onKeyDown={onKey}
          onClick={(event) => { const hit = layout.cells[at(event)]; if (hit) onOpen(hit); }} />
      </div>
      <div class="reading" id="reading" role="status"><Reading cell={cell} colourOf={colourOf} /></div>
    </>
  );
}
