// SPDX-License-Identifier: Apache-2.0
import { me, type Grant } from '../../ui/console/src/api/session';
import { findPage, firstPage, isAllowed, matchPath, pages } from '../../ui/console/src/frame/pages';

function signIn(...grants: Grant[]): void {
  me.value = { id: '1', name: 'a', type: 'user', mustChangePassword: false, clusterId: '', clusterName: '', grants };
}

test('parts of a path stand for anything, and are told', () => {
  expect(matchPath('/workloads/:id/:tab', '/workloads/a%20b/why')).toEqual({ id: 'a b', tab: 'why' });
  expect([matchPath('/workloads/:id', '/workloads'), matchPath('/quota', '/pools'), matchPath('/', '/')]).toEqual([null, null, {}]);
});

test('no two pages have one path or one key, and each is found', () => {
  const keys = pages.flatMap((page) => page.key ?? []);
  expect([new Set(pages.map((page) => page.path)).size, new Set(keys).size]).toEqual([pages.length, keys.length]);
  for (const page of pages) expect(findPage(page.path.replace(/:\w+/g, 'x'))).toBe(page);
});

test('what a role does not reach is no page of it', () => {
  signIn({ scopeType: 'department', scopeId: '7', permissions: ['department:read', 'nodepools:read'] });
  expect([isAllowed(findPage('/quota')!), isAllowed(findPage('/pools')!), isAllowed(findPage('/audit')!)]).toEqual([true, false, false]);
  expect(isAllowed(firstPage('/'))).toBe(true);
  signIn({ scopeType: 'tenant', scopeId: '1', permissions: ['roles:read'] });
  expect(firstPage('/access').path).toBe('/access/roles');
});
