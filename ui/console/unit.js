/* One department or project in the drawer: what it is, its quotas in each node pool, and how it ends. */

/* "" is unlimited; anything else goes to the server as a number where it is one, and it says what is wrong where it is none. */
function readNumber(path, text, convert) {
  const trimmed = text.trim().replace(/,(?=\d{3}\b)/g, '');
  if (!trimmed || trimmed.toLowerCase() === 'unlimited') return null;
  const value = Number(trimmed);
  if (!Number.isFinite(value) || value < 0) throw new Refusal(400, `${path}: expected a number that is not negative, or nothing for unlimited`);
  return convert(value);
}

/* The three numbers of a resource in a node pool. */
function resourceFields(unit, pool, i, id, isReadonly) {
  const { unit: of } = RESOURCES[id];
  const path = `resources[${i}].${id}`;
  const isNew = !unit;
  const text = (value) => (value === Infinity ? '' : String(Math.round(value * 1000) / 1000));
  const value = (member) => (isNew ? (member === 'deserved' && id === 'gpu' ? '0' : '') : text(quotaOf(unit, pool, id, member)));
  return add(null, 'fieldset', { class: 'three' }, add(null, 'legend', { text: of }),
    field({ path: `${path}.deserved`, label: 'Quota', value: value('deserved'), placeholder: 'unlimited', mode: 'decimal', isReadonly }),
    field({ path: `${path}.limit`, label: 'Limit', value: value('limit'), placeholder: 'unlimited', mode: 'decimal', isReadonly }),
    field({ path: `${path}.overQuotaWeight`, label: 'Weight', value: isNew ? '1' : text(weightOf(unit, pool, id)), mode: 'decimal', isReadonly }));
}

/* GPUs are in sight, the rest one click away; so are other pools than that which is looked at. */
function poolFields(unit, pools, shown, isReadonly) {
  return pools.map((pool, i) => {
    const more = add(null, 'details', {}, add(null, 'summary', { text: 'CPU and memory' }), resourceFields(unit, pool, i, 'cpu', isReadonly), resourceFields(unit, pool, i, 'memory', isReadonly));
    const content = [resourceFields(unit, pool, i, 'gpu', isReadonly), more];
    if (pools.length === 1) return add(null, 'div', { class: 'pool' }, ...content);
    return add(null, 'details', { class: 'pool', open: pool === shown }, add(null, 'summary', { text: `Node pool ${plain(pool)}` }), ...content);
  });
}

function readResources(values, pools) {
  return pools.map((pool, i) => {
    const row = { nodePool: { name: pool } };
    for (const [id, { toRest }] of Object.entries(RESOURCES)) {
      const path = `resources[${i}].${id}`;
      row[id] = {};
      for (const member of ['deserved', 'limit', 'overQuotaWeight']) {
        const value = readNumber(`${path}.${member}`, values[`${path}.${member}`], member === 'overQuotaWeight' ? Number : toRest);
        /* GPUs without a limit are -1 there. */
        row[id][member] = value === null && id === 'gpu' && member === 'deserved' ? -1 : value;
      }
      if (id === 'memory') row[id].units = 'GB';
    }
    return row;
  });
}

const LISTS = { department: 'departments', project: 'projects' };

function placeOf(kind, unit) {
  return kind === 'department' ? { department: unit.id } : { department: unit.parentId, project: unit.id };
}

function newUnitForm(kind, { departments, pools }, query) {
  const isProject = kind === 'project';
  const open = departments.filter((one) => one.status.phase !== 'Deleting' && may('project:create', { department: one.id }));
  const fields = [
    field({ path: 'name', label: 'Name', isRequired: true, hint: `Lower-case letters, digits and "-". It is the name of the ${isProject ? "project's" : "department's"} Queue.` }),
    isProject ? field({ path: 'parentId', label: 'Department', options: open.map((one) => [one.id, one.name]), value: query.get('in') || (open.find((one) => one.name !== 'default') || open[0] || {}).id }) : '',
    field({ path: 'description', label: 'Description' }),
    isProject ? field({ path: 'requestedNamespace', label: 'Namespace', placeholder: 'runai-NAME' }) : '',
    add(null, 'h3', { text: 'Quota' }),
    add(null, 'p', { class: 'hint', text: 'The quota is guaranteed. Up to the limit, work may use what others leave idle, by weight.' }),
    ...poolFields(null, pools, query.get('pool') || pools[0], false),
  ].filter(Boolean);
  return form({
    fields,
    save: isProject ? 'Create the project' : 'Create the department',
    send: (values) => call('POST', `${REST}/org-unit/${LISTS[kind]}`, {
      name: values.name.trim(), clusterId: me.clusterId, description: values.description, resources: readResources(values, pools),
      ...(isProject ? { parentId: values.parentId, ...(values.requestedNamespace.trim() ? { requestedNamespace: values.requestedNamespace.trim() } : {}) } : {}),
    }),
    done: async (unit) => {
      say(`${unit.name} was created.`);
      leaveDrawer();
      await refresh();
    },
  });
}

function askToDelete(kind, unit, data) {
  const isProject = kind === 'project';
  const children = data.projects.filter((project) => project.parentId === unit.id);
  askFirst({
    title: `Delete ${plain(unit.name)}?`,
    text: isProject ? `This cannot be undone. The namespace ${unit.status.namespace} stays with the work in it, which has no Queue any more. Deleted are:` : children.length ? `It has ${countText(children.length, 'project')}: ${listText(children.map((one) => one.name))}. Delete them first.` : 'This cannot be undone. Deleted are:',
    facts: children.length ? [] : [
      `the ${kind} and its ${data.pools.length === 1 ? 'Queue' : 'Queues in all node pools'}`,
      'its assets, with their Secrets and volume claims',
      'the access rules of its scope',
    ],
    save: `Delete ${plain(unit.name)}`,
    act: async () => {
      await call('DELETE', `${REST}/org-unit/${LISTS[kind]}/${unit.id}`);
      say(`${unit.name} is being deleted.`);
      leaveDrawer();
      await refresh();
    },
  });
}

function unitForm(kind, unit, data, query) {
  const mayWrite = may(`${kind}:update`, placeOf(kind, unit)) && unit.status.phase !== 'Deleting';
  const mayDelete = may(`${kind}:delete`, placeOf(kind, unit)) && unit.status.phase !== 'Deleting' && !(kind === 'department' && unit.name === 'default');
  const pools = unit.resources.map((row) => row.nodePool.name);
  const fields = [
    field({ path: 'description', label: 'Description', value: unit.description, isReadonly: !mayWrite }),
    ...poolFields(unit, pools, query.get('pool') || pools[0], !mayWrite),
  ];
  const remove = mayDelete ? [add(null, 'span', { class: 'grow' }), add(null, 'button', { type: 'button', class: 'button quiet bad', onclick: () => askToDelete(kind, unit, data), text: 'Delete' })] : [];
  if (!mayWrite) return add(null, 'div', { class: 'form' }, add(null, 'p', { class: 'note-line' }, icon('shield', 'dim'), unit.status.phase === 'Deleting' ? 'It is being deleted.' : `You may look at ${plain(unit.name)}, not change it.`), ...fields);
  return form({
    fields, more: remove, save: 'Save',
    send: (values) => call('PUT', `${REST}/org-unit/${LISTS[kind]}/${unit.id}`, { description: values.description, resources: readResources(values, pools) }),
    done: async () => {
      say(`${unit.name} was saved.`);
      leaveDrawer();
      await refresh();
    },
  });
}

function unitFacts(kind, unit, data) {
  const children = data.projects.filter((project) => project.parentId === unit.id).length;
  return facts([
    ['Status', phaseMark(unit.status.phase, unit.status.phaseMessage)],
    ['Problem', unit.status.phaseMessage],
    ['Department', unit.parent && unit.parent.name],
    ['Projects', kind === 'department' ? String(children) : ''],
    ['Namespace', unit.status.namespace && add(null, 'code', { text: unit.status.namespace })],
    ['Created', `${timeText(unit.createdAt)} by ${unit.createdBy}`],
    ['Changed', `${timeText(unit.updatedAt)} by ${unit.updatedBy || unit.createdBy}`],
  ]);
}

/* Whether the address names something to show. */
function drawUnit(data, query) {
  const kind = query.get('new');
  if (LISTS[kind]) {
    return openDrawer(`new ${kind}`, here({ new: kind, open: '', in: '' }), () => showDrawer(kind === 'project' ? 'New project' : 'New department', newUnitForm(kind, data, query)));
  }
  const id = query.get('open');
  if (!id) return false;
  const department = data.departments.find((one) => one.id === id);
  const unit = department || data.projects.find((one) => one.id === id);
  if (!unit) {
    return openDrawer(`gone ${id}`, '', () => showDrawer('Not here', add(null, 'p', { class: 'dim', text: 'There is no department or project of this id here. It may have been deleted, or belong to a scope that you do not see.' })));
  }
  return openDrawer(`unit ${id} ${unit.updatedAt} ${unit.status.phase === 'Deleting'}`, here({ open: id, new: '', in: '' }), () => {
    const one = department ? 'department' : 'project';
    const more = department && may('project:create', { department: id }) ? add(null, 'p', { class: 'actions' }, add(null, 'a', { class: 'button', href: here({ new: 'project', in: id, open: '' }), text: 'New project in it' })) : '';
    showDrawer(plain(unit.name), unitForm(one, unit, data, query), unitFacts(one, unit, data), more);
  });
}
