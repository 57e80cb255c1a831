// SPDX-License-Identifier: Apache-2.0

/* States and outlooks by their shapes: what a state is can be seen without its colour. */
import type { ComponentChildren } from 'preact';
import { Icon, type IconName, type Tone } from './icon';

const SHAPES: Record<string, [IconName, Tone]> = {
  Running: ['disc', 'good'], Pending: ['hourglass', 'warn'], Preempting: ['half', 'accent'], Suspended: ['square', 'dim'],
  Terminating: ['half', 'dim'], Completed: ['tick', 'dim'], Failed: ['cross', 'bad'], Cancelled: ['square', 'dim'],
  Ready: ['disc', 'good'], NotReady: ['triangle', 'bad'], Unknown: ['triangle', 'warn'], Cordoned: ['square', 'warn'], Idle: ['ring', 'warn'],
  fine: ['disc', 'good'], soon: ['half', 'accent'], 'not now': ['hourglass', 'warn'], 'by choice': ['diamond', 'choice'], never: ['octagon', 'bad'],
};

function shapeOf(state: string): [IconName, Tone] {
  return SHAPES[state] ?? ['square', 'dim'];
}

export function Shape({ of }: { of: string }) {
  const [name, tone] = shapeOf(of);
  return <Icon name={name} tone={tone} />;
}

/** A state as a lozenge; `children` add why, or for how long. */
export function StatePill({ state, children }: { state: string; children?: ComponentChildren }) {
  return <span class={`pill ${shapeOf(state)[1]}`}><Shape of={state} /><span>{state}{children}</span></span>;
}
