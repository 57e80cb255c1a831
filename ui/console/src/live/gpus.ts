// SPDX-License-Identifier: Apache-2.0

/* Which GPU of a node is held by whom, as far as the cluster says: whole GPUs have no names, so holders get cells that they keep. */
import type { Holder, NodeRow } from './rows';
import { modelText } from './text';

export interface Part {
  holder: Holder;
  /** The part of the GPU, from 0 to 1. */
  share: number;
}

export interface GpuCell {
  node: NodeRow;
  index: number;
  parts: Part[];
}

/** Nodes that are drawn together: a rack where nodes name one, else the same model of GPU. */
export interface NodeGroup {
  title: string;
  note: string;
  nodes: NodeRow[];
  gpus: number;
  allocated: number;
}

export type Grouping = 'rack' | 'model' | 'pool';

const byName = (a: NodeRow, b: NodeRow): number => a.name.localeCompare(b.name, 'en', { numeric: true });

export function groupNodes(nodes: Iterable<NodeRow>, by: Grouping): NodeGroup[] {
  const groups = new Map<string, NodeGroup>();
  for (const node of [...nodes].filter((one) => one.gpus > 0).sort(byName)) {
    const title = (by === 'rack' && node.rack) || (by === 'pool' && (node.nodePool || 'default')) || modelText(node.gpuModel);
    let group = groups.get(title);
    if (!group) groups.set(title, group = { title, note: by !== 'model' && title !== modelText(node.gpuModel) ? modelText(node.gpuModel) : '', nodes: [], gpus: 0, allocated: 0 });
    group.nodes.push(node);
    group.gpus += node.gpus;
    group.allocated += node.gpusAllocated;
  }
  return [...groups.values()];
}

/** The GPUs that pods of a node hold, by a key that stays the same while the pod runs. */
function tenants(node: NodeRow): Map<string, Part[]> {
  const found = new Map<string, Part[]>();
  for (const holder of node.holders) {
    const isShared = holder.groups.length > 0 || holder.gpus < 1;
    const name = `${holder.namespace}/${holder.pod}`;
    const keys = !isShared ? Array.from({ length: Math.min(Math.round(holder.gpus), 1024) }, (_, i) => `${name}#${i}`)
      : holder.groups.length > 0 ? holder.groups : [name];
    for (const key of keys) {
      const parts = found.get(key);
      const part = { holder, share: isShared ? holder.gpus / keys.length : 1 };
      if (parts) parts.push(part);
      else found.set(key, [part]);
    }
  }
  return found;
}

/** Remembers which cell a holder has, so that cells do not move when another pod ends. */
export class Places {
  private kept = new Map<string, (string | undefined)[]>();

  cells(node: NodeRow): GpuCell[] {
    const found = tenants(node);
    const keys = (this.kept.get(node.id) ?? []).map((key) => (key !== undefined && found.has(key) ? key : undefined));
    const known = new Set(keys);
    for (const key of found.keys()) {
      if (known.has(key)) continue;
      const free = keys.indexOf(undefined);
      if (free < 0) keys.push(key);
      else keys[free] = key;
    }
    this.kept.set(node.id, keys);
    return Array.from({ length: Math.max(node.gpus, keys.length) }, (_, index) => {
      const key = keys[index];
      return { node, index, parts: (key !== undefined && found.get(key)) || [] };
    });
  }
}
