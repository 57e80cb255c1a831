// SPDX-License-Identifier: Apache-2.0

/* The quotas of a unit in each node pool, as fields of a form and as what the REST takes. */
import type { PoolShares, ResourceName, Share, Unit } from '../../api/types';
import { Refusal } from '../../api/client';
import { Field, type Values } from '../../parts/form';
import { plain } from '../../text/plain';
import { quotaOf, RESOURCE_NAMES, RESOURCES, weightOf } from './ledger';

/** "" is unlimited; anything else has to be a number. */
export function readNumber(path: string, text: string, convert: (value: number) => number): number | null {
  const trimmed = text.trim().replace(/,(?=\d{3}\b)/g, '');
  if (!trimmed || trimmed.toLowerCase() === 'unlimited') return null;
  const value = Number(trimmed);
  if (!Number.isFinite(value) || value < 0) throw new Refusal(400, `${path}: expected a number that is not negative, or nothing for unlimited`);
  return convert(value);
}

interface ShareProps {
  /** Null where it is about to be created. */
  unit: Unit | null;
  pool: string;
  index: number;
  isReadonly: boolean;
}

/** The three numbers of a resource in a node pool. */
function ShareFields({ unit, pool, index, isReadonly, resource }: ShareProps & { resource: ResourceName }) {
  const path = `resources[${index}].${resource}`;
  const text = (value: number): string => (value === Infinity ? '' : String(Math.round(value * 1000) / 1000));
  const value = (member: 'deserved' | 'limit'): string => (unit ? text(quotaOf(unit, pool, resource, member)) : member === 'deserved' && resource === 'gpu' ? '0' : '');
  return (
    <fieldset class="three">
      <legend>{RESOURCES[resource].unit}</legend>
      <Field path={`${path}.deserved`} label="Quota" value={value('deserved')} placeholder="unlimited" mode="decimal" isReadonly={isReadonly} />
      <Field path={`${path}.limit`} label="Limit" value={value('limit')} placeholder="unlimited" mode="decimal" isReadonly={isReadonly} />
      <Field path={`${path}.overQuotaWeight`} label="Weight" value={unit ? text(weightOf(unit, pool, resource)) : '1'} mode="decimal" isReadonly={isReadonly} />
    </fieldset>
  );
}

/** GPUs are in sight, the rest one click away; so are other pools than that which is looked at. */
export function PoolFields({ unit, pools, shown, isReadonly }: { unit: Unit | null; pools: string[]; shown: string; isReadonly: boolean }) {
  return (
    <>
      {pools.map((pool, index) => {
        const share = { unit, pool, index, isReadonly };
        const content = (
          <>
            <ShareFields {...share} resource="gpu" />
            <details>
              <summary>CPU and memory</summary>
              <ShareFields {...share} resource="cpu" />
              <ShareFields {...share} resource="memory" />
            </details>
          </>
        );
        if (pools.length === 1) return <div key={pool} class="pool">{content}</div>;
        return <details key={pool} class="pool" open={pool === shown}><summary>{`Node pool ${plain(pool)}`}</summary>{content}</details>;
      })}
    </>
  );
}

export function readShares(values: Values, pools: string[]): PoolShares[] {
  return pools.map((pool, i) => {
    const row: PoolShares = { nodePool: { name: pool } };
    for (const resource of RESOURCE_NAMES) {
      const path = `resources[${i}].${resource}`;
      const number = (member: string, convert: (value: number) => number): number | null => readNumber(`${path}.${member}`, values.raw(`${path}.${member}`), convert);
      const deserved = number('deserved', RESOURCES[resource].toRest);
      // GPUs without a limit are -1 there. A weight that is left empty is refused by the server, which names it.
      const share: Share = {
        deserved: deserved === null && resource === 'gpu' ? -1 : deserved, limit: number('limit', RESOURCES[resource].toRest),
        overQuotaWeight: number('overQuotaWeight', Number) as number,
      };
      if (resource === 'memory') share.units = 'GB';
      row[resource] = share;
    }
    return row;
  });
}
