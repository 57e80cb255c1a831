// SPDX-License-Identifier: Apache-2.0

/* What the colours and the marks of the map of GPUs mean. */
import { isShown } from '../live/queues';
import type { NodeRow, QueueRow } from '../live/rows';
import { colourOf } from '../live/store';
import { Chip } from './bars';
import { Outside } from './text';

const QUEUES_MAX = 9;

export function MapKey({ nodes, queues }: { nodes: ReadonlyMap<string, NodeRow>; queues: ReadonlyMap<string, QueueRow> }) {
  const all = [...nodes.values()];
  const shown = [...queues.values()].filter((queue) => queue.isLeaf && queue.allocated > 0 && isShown(queue, queues.size)).slice(0, QUEUES_MAX);
  const isShared = all.some((node) => node.holders.some((holder) => holder.gpus < 1));
  return (
    <p class="key">
      {shown.map((queue) => <span key={queue.name}><Chip colour={colourOf(queue.name)} /><Outside text={queue.displayName || queue.name} /></span>)}
      {isShared && <span><i class="cell shared" />shared</span>}
      <span><i class="cell free" />free</span>
      {all.some((node) => !node.isReady) && <span><i class="cell out" />not ready</span>}
    </p>
  );
}
