/* Node pools: parts of the nodes, each with a scheduler, settings and quotas of its own. */

const STRATEGIES = [['binpack', 'pack: fill nodes one after the other'], ['spread', 'spread over all nodes']];
const STRATEGY_NAMES = { binpack: 'pack', spread: 'spread' };

function poolLabel(pool) {
  return pool.isDefault ? add(null, 'span', { class: 'dim', text: 'nodes in no other pool' }) : add(null, 'code', { text: plain(`${pool.labelKey}=${pool.labelValue}`) });
}

function runtimeOf(pool) {
  return (pool.schedulingConfiguration || {}).minGuaranteedRuntime || '';
}

function drawPools(main, pools, query) {
  const words = query.get('q') || '';
  const rows = pools.filter((pool) => matches(words, pool.name, pool.labelKey, pool.labelValue));
  const nodes = pools.reduce((sum, pool) => sum + pool.status.nodes.length, 0);
  main.append(pageHead('Node pools', `${countText(pools.length, 'node pool')}${nodes ? ` with ${countText(nodes, 'node')} by label` : ''}. A node that is in no other pool is in the pool default.`,
    ...(may('nodepools:create') ? [mainButton('New node pool', here({ new: 'pool', open: '' }))] : [])));
  const panel = add(main, 'section', { class: 'panel', 'aria-labelledby': 'pools-title' }, add(null, 'header', {}, add(null, 'h2', { id: 'pools-title', text: 'Node pools' }), add(null, 'span', { class: 'grow' }), filterBox('Filter by name or label')));
  if (!rows.length) {
    panel.append(noMatch());
    return;
  }
  panel.append(table({
    label: 'Node pools', rows,
    columns: [
      { head: 'Name', isName: true, cell: (pool) => rowLink(pool.name, here({ open: pool.id, new: '' })) },
      { head: 'Nodes with the label', className: 'fill', isWide: true, cell: poolLabel },
      { head: 'Nodes', isNumber: true, cell: (pool) => (pool.isDefault ? '–' : String(pool.status.nodes.length)) },
      { head: 'GPUs', isWide: true, cell: (pool) => STRATEGY_NAMES[pool.placementStrategy.gpu] },
      { head: 'CPUs', isWide: true, cell: (pool) => STRATEGY_NAMES[pool.placementStrategy.cpu] },
      { head: 'Guaranteed run time', isWide: true, cell: (pool) => runtimeOf(pool) || '–' },
      { head: 'Status', className: 'note', cell: (pool) => phaseMark(pool.phase, pool.phaseMessage) },
    ],
  }));
  if (pools.length === 1) {
    panel.append(emptyState('One pool for all nodes', 'Give nodes of one kind a label, such as their GPU type, and a pool of their own: it has a placement strategy, a guaranteed run time, and quotas of its own.'));
  }
}

function askToDeletePool(pool) {
  const { nodes } = pool.status;
  askFirst({
    title: `Delete the node pool ${plain(pool.name)}?`,
    text: nodes.length ? `${countText(nodes.length, 'node')} return to the pool default: ${listText(nodes.slice(0, 5))}${nodes.length > 5 ? ` and ${nodes.length - 5} more` : ''}.` : 'It has no nodes.',
    facts: ['its SchedulingShard is deleted', 'the Queues of all departments and projects in it are deleted, with their quotas', 'work that waits in it has no Queue any more'],
    save: `Delete ${plain(pool.name)}`,
    act: async () => {
      await call('DELETE', `${REST}/node-pools/${pool.id}`);
      say(`${pool.name} is being deleted.`);
      leaveDrawer();
      await refresh();
    },
  });
}

function poolForm(pool) {
  const isNew = !pool;
  const mayWrite = may(isNew ? 'nodepools:create' : 'nodepools:update') && !(pool && pool.phase === 'Deleting');
  const isReadonly = !mayWrite;
  const hasLabel = isNew || !pool.isDefault;
  const strategy = (id) => (isNew ? 'binpack' : pool.placementStrategy[id]);
  const fields = [
    isNew ? field({ path: 'name', label: 'Name', isRequired: true, hint: 'Lower-case letters, digits and "-".' }) : '',
    hasLabel ? field({ path: 'labelKey', label: 'Key of the label', value: isNew ? '' : pool.labelKey, isRequired: true, placeholder: 'nvidia.com/gpu.product', isReadonly }) : '',
    hasLabel ? field({ path: 'labelValue', label: 'Value of the label', value: isNew ? '' : pool.labelValue, isRequired: true, placeholder: 'NVIDIA-H200', isReadonly,
      hint: isNew ? 'Nodes with this label are in the pool. A node with the labels of several pools is in the first of them by name.' : '' }) : '',
    field({ path: 'schedulingConfiguration.placementStrategy.gpu', label: 'GPU workloads', options: STRATEGIES, value: strategy('gpu') }),
    field({ path: 'schedulingConfiguration.placementStrategy.cpu', label: 'CPU workloads', options: STRATEGIES, value: strategy('cpu') }),
    field({ path: 'schedulingConfiguration.minGuaranteedRuntime', label: 'Guaranteed run time', value: isNew ? '' : runtimeOf(pool), placeholder: 'none', isReadonly, hint: 'Work is not preempted before, such as 2h or 1d12h.' }),
  ].filter(Boolean);
  if (!mayWrite) {
    for (const select of fields.flatMap((one) => [...one.querySelectorAll('select')])) select.disabled = true;
    return add(null, 'div', { class: 'form' }, add(null, 'p', { class: 'note-line' }, icon('shield', 'dim'), 'You may look at node pools, not change them.'), ...fields);
  }
  const remove = !isNew && !pool.isDefault && may('nodepools:delete') ? [add(null, 'span', { class: 'grow' }), add(null, 'button', { type: 'button', class: 'button quiet bad', onclick: () => askToDeletePool(pool), text: 'Delete' })] : [];
  return form({
    fields, more: remove, save: isNew ? 'Create the node pool' : 'Save',
    send: (values) => {
      const runtime = values['schedulingConfiguration.minGuaranteedRuntime'].trim();
      const body = {
        ...(hasLabel ? { labelKey: values.labelKey.trim(), labelValue: values.labelValue.trim() } : {}),
        schedulingConfiguration: {
          placementStrategy: { gpu: values['schedulingConfiguration.placementStrategy.gpu'], cpu: values['schedulingConfiguration.placementStrategy.cpu'] },
          ...(runtime || !isNew ? { minGuaranteedRuntime: runtime || '0s' } : {}),
        },
      };
      return isNew ? call('POST', `${REST}/node-pools`, { ...body, name: values.name.trim(), clusterId: me.clusterId }) : call('PATCH', `${REST}/node-pools/${pool.id}`, body);
    },
    done: async () => {
      say(isNew ? 'The node pool was created.' : `${pool.name} was saved.`);
      leaveDrawer();
      await refresh();
    },
  });
}

function drawPool(pools, query) {
  if (query.get('new') === 'pool' && may('nodepools:create')) return openDrawer('new pool', here({ new: 'pool', open: '' }), () => showDrawer('New node pool', poolForm(null)));
  const id = query.get('open');
  if (!id) return false;
  const pool = pools.find((one) => one.id === id);
  if (!pool) return openDrawer(`gone ${id}`, '', () => showDrawer('Not here', add(null, 'p', { class: 'dim', text: 'There is no node pool of this id. It may have been deleted.' })));
  return openDrawer(`pool ${id} ${pool.updatedAt} ${pool.phase === 'Deleting'}`, here({ open: id, new: '' }), () => showDrawer(plain(pool.name), poolForm(pool), facts([
    ['Status', phaseMark(pool.phase, pool.phaseMessage)],
    ['Problem', pool.phaseMessage],
    ['Nodes', pool.isDefault ? 'those in no other pool' : pool.status.nodes.length ? pool.status.nodes.join(', ') : 'none'],
    ['Created', `${timeText(pool.createdAt)} by ${pool.createdBy}`],
    ['Changed', `${timeText(pool.updatedAt)} by ${pool.updatedBy}`],
  ])));
}

pages.push({
  path: '/pools', title: 'Node pools', icon: 'pools', needs: ['nodepools:read'], isWhole: true,
  load: async () => (await get(`${REST}/node-pools?limit=500`)).nodepools.sort((a, b) => Number(b.isDefault) - Number(a.isDefault) || a.name.localeCompare(b.name)),
  isMoving: (pools) => pools.some((pool) => isMovingPhase(pool.phase)),
  draw: drawPools,
  drawer: drawPool,
});
