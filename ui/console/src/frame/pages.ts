// SPDX-License-Identifier: Apache-2.0

/* All pages: where each is, who may see it, and how it is loaded. A page is loaded when somebody goes there. */
import type { ComponentType } from 'preact';
import { may, maySomewhere } from '../api/session';
import type { IconName } from '../parts/icon';

export interface Page {
  /** Parts such as ":id" stand for anything; see `params`. */
  path: string;
  title: string;
  /** The name in the navigation, where it is another one than the title. */
  name?: string;
  /** Pages with an icon are in the navigation. */
  icon?: IconName;
  /** The heading under which pages stand in the navigation; none is the first part. */
  section?: 'Build' | 'Organisation';
  /** Pages of one group have one entry in the navigation. */
  group?: string;
  /** The key that leads here after "g". */
  key?: string;
  /** Permissions of which one is enough, in the whole tenant where `isWhole` is set; [] is everybody. */
  needs: string[];
  isWhole?: boolean;
  load: () => Promise<{ default: ComponentType }>;
}

const ASSETS: [path: string, needs: string][] = [
  ['environments', 'environments:read'], ['compute', 'compute-resources:read'], ['data-sources', 'pvc-assets:read'], ['credentials', 'credentials:read'], ['registries', 'registries:read'],
];
const POLICIES = ['workspaces', 'trainings', 'distributed', 'inferences'];

export const pages: Page[] = [
  { path: '/', title: 'Overview', icon: 'home', key: 'o', needs: ['dashboards-overview:read'], load: () => import('../pages/overview/overview') },
  { path: '/workloads', title: 'Workloads', icon: 'list', key: 'w', needs: ['workloads:read'], load: () => import('../pages/workloads/workloads') },
  { path: '/nodes', title: 'Nodes and GPUs', name: 'Nodes', icon: 'chip', key: 'n', needs: ['nodes:read'], load: () => import('../pages/nodes/nodes') },
  { path: '/submit', title: 'Submit', needs: ['workspaces:create', 'trainings:create', 'workloads:create'], load: () => import('../pages/submit/submit') },
  { path: '/quota', title: 'Quota', icon: 'scales', key: 'q', needs: ['department:read', 'project:read'], load: () => import('../pages/quota/quota') },
  { path: '/what-if', title: 'What-if', icon: 'flask', key: 'f', needs: ['workloads:create'], load: () => import('../pages/whatif/whatif') },
  ...ASSETS.map(([path, needs], i): Page => ({
    path: `/assets/${path}`, title: 'Assets', section: 'Build', group: 'assets', needs: [needs], load: () => import('../pages/assets/assets'), ...(i === 0 ? { icon: 'box', key: 'e' } : {}),
  })),
  { path: '/templates', title: 'Templates', icon: 'doc', section: 'Build', key: 't', needs: ['templates:read'], load: () => import('../pages/templates/templates') },
  ...POLICIES.map((type, i): Page => ({
    path: `/policies/${type}`, title: 'Policies', section: 'Build', group: 'policies', needs: ['policies:read'], load: () => import('../pages/policies/policies'),
    ...(i === 0 ? { icon: 'shield', key: 'y' } : {}),
  })),
  { path: '/clusters', title: 'Clusters', icon: 'cluster', section: 'Organisation', key: 'k', needs: ['cluster:read'], isWhole: true, load: () => import('../pages/clusters/clusters') },
  { path: '/pools', title: 'Node pools', icon: 'pools', section: 'Organisation', key: 'p', needs: ['nodepools:read'], isWhole: true, load: () => import('../pages/pools/pools') },
  {
    path: '/access/users', title: 'Users', name: 'Access', icon: 'people', section: 'Organisation', group: 'access', key: 'a', needs: ['users:read'],
    load: () => import('../pages/access/users'),
  },
  { path: '/access/service-accounts', title: 'Service accounts', name: 'Access', group: 'access', needs: ['service-account:read'], load: () => import('../pages/access/accounts') },
  { path: '/access/rules', title: 'Access rules', name: 'Access', group: 'access', needs: ['access_rules:read'], load: () => import('../pages/access/rules') },
  { path: '/access/roles', title: 'Roles', name: 'Access', group: 'access', needs: ['roles:read'], load: () => import('../pages/access/roles') },
  {
    path: '/notifications', title: 'Notifications', icon: 'bell', section: 'Organisation', key: 'i', needs: ['security-settings:read'], isWhole: true,
    load: () => import('../pages/notifications/notifications'),
  },
  { path: '/settings/sign-in', title: 'Settings', icon: 'gear', section: 'Organisation', group: 'settings', key: 's', needs: ['security-settings:read'], isWhole: true, load: () => import('../pages/settings/signin') },
  { path: '/settings/workload-types', title: 'Settings', group: 'settings', needs: ['workload-properties:read'], isWhole: true, load: () => import('../pages/settings/types') },
  { path: '/me', title: 'You', needs: [], load: () => import('../pages/me/me') },
  { path: '/audit', title: 'Audit', icon: 'scroll', section: 'Organisation', key: 'l', needs: ['events-history:read'], isWhole: true, load: () => import('../pages/audit/audit') },
];

export function isAllowed(page: Page): boolean {
  return page.needs.length === 0 || page.needs.some((permission) => (page.isWhole ? may(permission) : maySomewhere(permission)));
}

/** What the parts with ":" of a path stand for; null where the path is another one. */
export function matchPath(pattern: string, path: string): Record<string, string> | null {
  const parts = pattern.split('/');
  const given = path.split('/');
  if (parts.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [i, part] of parts.entries()) {
    if (part.startsWith(':')) params[part.slice(1)] = decodeURIComponent(given[i]!);
    else if (part !== given[i]) return null;
  }
  return params;
}

export function findPage(path: string): Page | null {
  return pages.find((page) => matchPath(page.path, path)) ?? null;
}

/** Where to go instead of a path that is no page: the first page that one may see. */
export function firstPage(path: string): Page {
  const inside = pages.find((page) => path !== '/' && page.path.startsWith(`${path}/`) && isAllowed(page));
  return inside ?? pages.find((page) => page.icon && isAllowed(page)) ?? pages[0]!;
}
