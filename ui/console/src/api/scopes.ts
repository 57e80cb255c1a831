// SPDX-License-Identifier: Apache-2.0

/* Scopes: the whole tenant, the cluster, a department or a project. A key such as "project:4500001" stands for one in addresses and fields. */
import { plain } from '../text/plain';
import { readDepartments, readProjects } from './lists';
import { may, me, type Place } from './session';
import type { Unit } from './types';

/** What policies, assets and channels say of their scope. Identifiers of projects are numbers in some answers. */
export interface Scoped {
  scope: string;
  departmentId?: string;
  projectId?: string | number;
}

export interface Units {
  departments: Unit[];
  projects: Unit[];
}

export async function readUnits(): Promise<Units> {
  const byName = (a: Unit, b: Unit): number => a.name.localeCompare(b.name);
  const [departments, projects] = await Promise.all([readDepartments(), readProjects()]);
  return { departments: departments.toSorted(byName), projects: projects.toSorted(byName) };
}

export function scopeKey(of: Scoped): string {
  return of.scope === 'department' ? `department:${of.departmentId}` : of.scope === 'project' ? `project:${of.projectId}` : of.scope;
}

function split(key: string): [kind: string, id: string] {
  const at = key.indexOf(':');
  return at < 0 ? [key, ''] : [key.slice(0, at), key.slice(at + 1)];
}

export function placeOf(key: string, { projects }: Units): Place {
  const [kind, id] = split(key);
  if (kind === 'department') return { department: id };
  return kind === 'project' ? { department: projects.find((one) => one.id === id)?.parentId, project: id } : {};
}

/** "everything", "the department research" */
export function scopeText(key: string, { departments, projects }: Units): string {
  const [kind, id] = split(key);
  if (kind === 'tenant') return 'everything';
  if (kind === 'cluster') return `the cluster ${plain(me.value?.clusterName)}`;
  const unit = (kind === 'department' ? departments : projects).find((one) => one.id === id);
  return `the ${kind} ${unit ? plain(unit.name) : plain(id)}`;
}

/** The scopes in which somebody may do a thing, such as "policies:update". */
export function scopesFor(permission: string, units: Units): [key: string, text: string][] {
  const keys = ['tenant', ...units.departments.map((one) => `department:${one.id}`), ...units.projects.map((one) => `project:${one.id}`)];
  return keys.filter((key) => may(permission, placeOf(key, units))).map((key) => [key, scopeText(key, units)]);
}

/** As requests name it. */
export function scopeBody(key: string): Record<string, string> {
  const [kind, id] = split(key);
  const cluster = me.value?.clusterId ?? '';
  if (kind === 'tenant') return { scope: kind };
  return { scope: kind, clusterId: cluster, ...(kind === 'department' ? { departmentId: id } : kind === 'project' ? { projectId: id } : {}) };
}

export function scopeQuery(key: string): string {
  return String(new URLSearchParams(scopeBody(key)));
}
