// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from 'preact';
import { plain, type Plain } from '../text/plain';

/** A text from outside: shown as text, and kept apart from the direction of what is around it. */
export function Outside({ text, class: className }: { text: Plain; class?: string }) {
  return <bdi class={className}>{plain(text)}</bdi>;
}

export type Fact = [name: string, value: ComponentChildren];

/** Pairs of a name and a value; those without a value are left out. */
export function Facts({ pairs }: { pairs: Fact[] }) {
  const shown = pairs.filter(([, value]) => value !== '' && value !== undefined && value !== null);
  return (
    <dl class="facts">
      {shown.map(([name, value]) => [<dt key={`${name}-name`}>{name}</dt>, <dd key={name}>{typeof value === 'string' ? <Outside text={value} /> : value}</dd>])}
    </dl>
  );
}
