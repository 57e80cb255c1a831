// SPDX-License-Identifier: Apache-2.0

/*
 * A table of many rows, of which only those in sight are in the document. Rows have one height; what is above and below is empty space
 * of the same size, so that the scroll bar is true. The row that has the focus stays in the document.
 */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Column } from './table';
import { Outside } from './text';

interface GridProps<Row> {
  label: string;
  columns: Column<Row>[];
  count: number;
  /** The row at a position; null while it is being read. */
  rowAt: (index: number) => Row | null;
  idOf: (row: Row) => string;
  rowHeight?: number;
  /** What stands at the head of a column, such as buttons that sort. */
  headOf?: (column: Column<Row>) => preact.ComponentChildren;
  /** Called with the rows that are in sight. */
  onShow?: (from: number, to: number) => void;
}

const BEYOND = 12;

/** The rows that a part of the page shows, with some above and below it. */
export function rowsInSight(top: number, height: number, rowHeight: number, count: number): [from: number, to: number] {
  const from = Math.max(0, Math.min(count, Math.floor(top / rowHeight) - BEYOND));
  const to = Math.max(from, Math.min(count, Math.ceil((top + height) / rowHeight) + BEYOND));
  return [from, to];
}

export function Grid<Row>({ label, columns, count, rowAt, idOf, rowHeight = 34, headOf, onShow }: GridProps<Row>) {
  const box = useRef<HTMLDivElement>(null);
  const [[from, to], setRange] = useState<[number, number]>([0, Math.min(count, 60)]);
  useLayoutEffect(() => {
    const element = box.current!;
    const look = (): void => {
      const next = rowsInSight(element.scrollTop, element.clientHeight, rowHeight, count);
      setRange((before) => (before[0] === next[0] && before[1] === next[1] ? before : next));
    };
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    look();
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, [count, rowHeight]);
  useLayoutEffect(() => { onShow?.(from, to); }, [from, to, count]);
  const indexes = Array.from({ length: Math.max(0, Math.min(to, count) - from) }, (_, i) => from + i);
  return (
    <div class="grid-box" ref={box} tabIndex={-1}>
      <table class="list grid" role="grid" aria-label={label} aria-rowcount={count + 1}>
        <thead><tr aria-rowindex={1}>{columns.map((column) => <th key={column.head} scope="col" class={classOf(column)}>{headOf?.(column) ?? column.head}</th>)}</tr></thead>
        <tbody>
          <tr class="gap" aria-hidden="true" style={{ height: `${from * rowHeight}px` }}><td /></tr>
          {indexes.map((index) => {
            const row = rowAt(index);
            return <GridRow key={row ? idOf(row) : `at ${index}`} row={row} index={index} columns={columns} rowHeight={rowHeight} />;
          })}
          <tr class="gap" aria-hidden="true" style={{ height: `${Math.max(0, count - to) * rowHeight}px` }}><td /></tr>
        </tbody>
      </table>
    </div>
  );
}

function classOf<Row>(column: Column<Row>): string {
  return [column.isNumber ? 'num' : '', column.isWide ? 'wide' : '', column.className ?? ''].join(' ').trim();
}

function GridRow<Row>({ row, index, columns, rowHeight }: { row: Row | null; index: number; columns: Column<Row>[]; rowHeight: number }) {
  return (
    <tr aria-rowindex={index + 2} style={{ height: `${rowHeight}px` }}>
      {columns.map((column) => {
        const content = row === null ? null : column.cell(row);
        const shown = typeof content === 'string' ? <Outside text={content} /> : content;
        return column.isName ? <th key={column.head} scope="row" class={classOf(column)}>{shown}</th> : <td key={column.head} class={classOf(column)}>{shown}</td>;
      })}
    </tr>
  );
}
