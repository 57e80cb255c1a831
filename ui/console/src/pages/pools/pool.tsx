// SPDX-License-Identifier: Apache-2.0

/* One node pool in the drawer. */
import { call, REST } from '../../api/client';
import { may, me } from '../../api/session';
import type { NodePool } from '../../api/types';
import { askFirst } from '../../parts/dialog';
import { Drawer, leaveDrawer } from '../../parts/drawer';
import { Field, Form, type Values } from '../../parts/form';
import { Icon } from '../../parts/icon';
import { Phase } from '../../parts/table';
import { Facts } from '../../parts/text';
import { param } from '../../state/address';
import { refresh } from '../../state/read';
import { say } from '../../state/say';
import { countText, listText, timeText } from '../../text/format';
import { plain } from '../../text/plain';

const STRATEGIES = [['binpack', 'pack: fill nodes one after the other'], ['spread', 'spread over all nodes']] as const;
const CONFIG = 'schedulingConfiguration';
const NODES_NAMED = 5;

export function runtimeOf(pool: NodePool): string {
  return pool.schedulingConfiguration?.minGuaranteedRuntime ?? '';
}

async function close(text: string): Promise<void> {
  say(text);
  leaveDrawer();
  await refresh();
}

function askToDelete(pool: NodePool): void {
  const { nodes } = pool.status;
  const names = listText(nodes.slice(0, NODES_NAMED).map(plain));
  const more = nodes.length > NODES_NAMED ? ` and ${nodes.length - NODES_NAMED} more` : '';
  askFirst({
    title: `Delete the node pool ${plain(pool.name)}?`,
    text: nodes.length ? `${countText(nodes.length, 'node')} return to the pool default: ${names}${more}.` : 'It has no nodes.',
    facts: ['its SchedulingShard is deleted', 'the Queues of all departments and projects in it are deleted, with their quotas', 'workloads that wait in it lose their Queue'],
    save: `Delete ${plain(pool.name)}`,
    act: async () => {
      await call('DELETE', `${REST}/node-pools/${pool.id}`);
      await close(`${pool.name} is being deleted.`);
    },
  });
}

function Fields({ pool, isReadonly }: { pool: NodePool | null; isReadonly: boolean }) {
  const hint = pool ? '' : 'Nodes with this label are in the pool. A node with the labels of several pools is in the first of them by name.';
  return (
    <>
      {!pool && <Field path="name" label="Name" hint={'Lower-case letters, digits and "-".'} isRequired />}
      {!pool?.isDefault && (
        <>
          <Field path="labelKey" label="Key of the label" value={pool?.labelKey} placeholder="nvidia.com/gpu.product" isReadonly={isReadonly} isRequired />
          <Field path="labelValue" label="Value of the label" value={pool?.labelValue} placeholder="NVIDIA-H200" hint={hint} isReadonly={isReadonly} isRequired />
        </>
      )}
      <Field path={`${CONFIG}.placementStrategy.gpu`} label="GPU workloads" options={STRATEGIES.slice()} value={pool?.placementStrategy.gpu ?? 'binpack'} isReadonly={isReadonly} />
      <Field path={`${CONFIG}.placementStrategy.cpu`} label="CPU workloads" options={STRATEGIES.slice()} value={pool?.placementStrategy.cpu ?? 'binpack'} isReadonly={isReadonly} />
      <Field path={`${CONFIG}.minGuaranteedRuntime`} label="Guaranteed run time" value={pool ? runtimeOf(pool) : ''} placeholder="none" hint="Workloads are not preempted before this time, such as 2h or 1d12h." isReadonly={isReadonly} />
    </>
  );
}

function PoolForm({ pool }: { pool: NodePool | null }) {
  const isEnding = pool?.phase === 'Deleting';
  if (!may(pool ? 'nodepools:update' : 'nodepools:create') || isEnding) {
    const text = isEnding ? 'It is being deleted.' : 'You can view node pools, but not change them.';
    return <div class="form"><p class="note-line"><Icon name="shield" tone="dim" />{text}</p><Fields pool={pool} isReadonly /></div>;
  }
  const send = (values: Values): Promise<unknown> => {
    const runtime = values.text(`${CONFIG}.minGuaranteedRuntime`);
    const body = {
      ...(pool?.isDefault ? {} : { labelKey: values.text('labelKey'), labelValue: values.text('labelValue') }),
      schedulingConfiguration: {
        placementStrategy: { gpu: values.raw(`${CONFIG}.placementStrategy.gpu`), cpu: values.raw(`${CONFIG}.placementStrategy.cpu`) },
        ...(runtime || pool ? { minGuaranteedRuntime: runtime || '0s' } : {}),
      },
    };
    return pool ? call('PATCH', `${REST}/node-pools/${pool.id}`, body) : call('POST', `${REST}/node-pools`, { ...body, name: values.text('name'), clusterId: me.value!.clusterId });
  };
  const more = pool && !pool.isDefault && may('nodepools:delete')
    ? <><span class="grow" /><button type="button" class="button quiet bad" onClick={() => askToDelete(pool)}>Delete</button></> : null;
  return (
    <Form save={pool ? 'Save' : 'Create the node pool'} send={send} done={() => close(pool ? `${pool.name} was saved.` : 'The node pool was created.')} more={more}>
      <Fields pool={pool} isReadonly={false} />
    </Form>
  );
}

/** What the address names, if it names something. */
export function PoolDrawer({ pools }: { pools: NodePool[] }) {
  if (param('new') === 'pool' && may('nodepools:create')) return <Drawer key="new" title="New node pool"><PoolForm pool={null} /></Drawer>;
  const id = param('open');
  if (!id) return null;
  const pool = pools.find((one) => one.id === id);
  if (!pool) return <Drawer key="gone" title="Not here"><p class="dim">This node pool does not exist. It may have been deleted.</p></Drawer>;
  const { nodes } = pool.status;
  return (
    <Drawer key={`${id} ${pool.updatedAt} ${pool.phase === 'Deleting'}`} title={pool.name} row={id}>
      <PoolForm pool={pool} />
      <Facts pairs={[
        ['Status', <Phase phase={pool.phase} message={pool.phaseMessage} />],
        ['Problem', pool.phaseMessage],
        ['Nodes', pool.isDefault ? 'those in no other pool' : nodes.length ? nodes.join(', ') : 'none'],
        ['Created', `${timeText(pool.createdAt)} by ${pool.createdBy}`],
        ['Changed', `${timeText(pool.updatedAt)} by ${pool.updatedBy}`],
      ]} />
    </Drawer>
  );
}
