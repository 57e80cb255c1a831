// SPDX-License-Identifier: Apache-2.0

/* Tables of rows that open a drawer. For many rows there is the grid, in parts/grid.tsx. */
import type { ComponentChildren } from 'preact';
import { address, here } from '../state/address';
import { Icon, type IconName, type Tone } from './icon';
import { Outside } from './text';

export interface Column<Row> {
  head: string;
  cell: (row: Row) => ComponentChildren;
  /** Right, in figures of one width. */
  isNumber?: boolean;
  /** Left out where there is no room. */
  isWide?: boolean;
  /** The head is said and not shown. */
  hidesHead?: boolean;
  /** What the row is called. */
  isName?: boolean;
  className?: string;
}

function classOf<Row>(column: Column<Row>): string | undefined {
  return [column.isNumber ? 'num' : '', column.isWide ? 'wide' : '', column.className ?? ''].join(' ').trim() || undefined;
}

function Cell<Row>({ column, row }: { column: Column<Row>; row: Row }) {
  const content = column.cell(row);
  const shown = typeof content === 'string' ? <Outside text={content} /> : content;
  return column.isName ? <th class={classOf(column)} scope="row">{shown}</th> : <td class={classOf(column)}>{shown}</td>;
}

interface TableProps<Row> {
  label: string;
  columns: Column<Row>[];
  rows: Row[];
  idOf: (row: Row) => string;
  classOfRow?: (row: Row) => string;
  foot?: ComponentChildren;
  class?: string;
}

export function Table<Row>({ label, columns, rows, idOf, classOfRow, foot, class: className = 'list' }: TableProps<Row>) {
  return (
    <div class="scroll">
      <table class={className} aria-label={label}>
        <thead><tr>{columns.map((column) => <th key={column.head} scope="col" class={classOf(column)}>{column.hidesHead ? <span class="hidden">{column.head}</span> : column.head}</th>)}</tr></thead>
        <tbody>
          {rows.map((row) => <tr key={idOf(row)} class={classOfRow?.(row)}>{columns.map((column) => <Cell key={column.head} column={column} row={row} />)}</tr>)}
        </tbody>
        {foot ? <tfoot>{foot}</tfoot> : null}
      </table>
    </div>
  );
}

/** The name of a row, which opens it: in the drawer as ?open=ID. */
export function RowLink({ name, id, children }: { name: string; id: string; children?: ComponentChildren }) {
  const isOpen = address.value.query.get('open') === id;
  return (
    <span class="name">
      <a href={here({ open: id, new: '', in: '' })} data-row="" data-focus={id} aria-expanded={isOpen ? 'true' : undefined}><Outside text={name} /></a>
      {children}
    </span>
  );
}

const PHASES: Record<string, [IconName, Tone]> = {
  Ready: ['disc', 'good'], Creating: ['half', 'accent'], Updating: ['half', 'accent'], Deleting: ['half', 'dim'], Empty: ['square', 'dim'], Failed: ['cross', 'bad'], Error: ['cross', 'bad'],
};

/** Whether an object of this phase is on its way to another one. */
export function isMovingPhase(phase: string): boolean {
  return ['Creating', 'Updating', 'Deleting'].includes(phase);
}

/** A state: its shape first, then its name. */
export function Mark({ icon, tone, text, title }: { icon: IconName; tone: Tone; text: string; title?: string | undefined }) {
  return <span class="phase" title={title}><Icon name={icon} tone={tone} /><span>{text}</span></span>;
}

export function Phase({ phase, message }: { phase: string; message?: string }) {
  const [icon, tone] = PHASES[phase] ?? (['octagon', 'bad'] as const);
  return <Mark icon={icon} tone={tone} text={phase} title={message || undefined} />;
}
