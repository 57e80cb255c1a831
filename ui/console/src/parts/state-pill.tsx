// SPDX-License-Identifier: Apache-2.0

/* States and outlooks by their shapes: what a state is can be seen without its colour. */
import type { ComponentChildren } from 'preact';
import { shapeOf } from '../live/text';
import { Icon } from './icon';

export function Shape({ of }: { of: string }) {
  const [name, tone] = shapeOf(of);
  return <Icon name={name} tone={tone} />;
}

/** A state as a lozenge; `children` add why, or for how long. */
export function StatePill({ state, children }: { state: string; children?: ComponentChildren }) {
  return <span class={`pill ${shapeOf(state)[1]}`}><Shape of={state} /><span>{state}{children}</span></span>;
}
