// SPDX-License-Identifier: Apache-2.0

/* The language of the filter of workloads, as far as the page writes it. The server reads it. */

/** A term such as `queue:vision`, with quotes where the value has blanks. */
export function term(column: string, value: string): string {
  return /^[\w./@-]+$/.test(value) ? `${column}:${value}` : `${column}:"${value.replaceAll('"', '')}"`;
}

/** The terms of a filter; blanks within quotes part nothing. */
export function terms(filter: string): string[] {
  return filter.match(/(?:[^\s"]|"[^"]*"?)+/g) ?? [];
}

/** The filter with another term for a column, or without one. */
export function withTerm(filter: string, column: string, value: string): string {
  const others = terms(filter).filter((one) => !one.startsWith(`${column}:`));
  return [...others, ...(value ? [term(column, value)] : [])].join(' ');
}

/** The value that the filter has for a column. */
export function termOf(filter: string, column: string): string {
  const found = terms(filter).find((one) => one.startsWith(`${column}:`));
  return found ? found.slice(column.length + 1).replaceAll('"', '') : '';
}

/** What waits. */
export const WAITING = 'state:Pending,Preempting';
