// SPDX-License-Identifier: Apache-2.0

/* What departments and projects own in a node pool, as rows of a ledger. */
import type { ResourceName, Share, Unit } from '../../api/types';
import { amountText, countText, matches } from '../../text/format';

interface Resource {
  name: string;
  unit: string;
  toPeople: (value: number, share: Share) => number;
  toRest: (value: number) => number;
}

const GB: Record<string, number> = { Mib: 1.048576, MB: 1, GB: 1000 };

/** Resources as the REST counts them, and as people do: CPUs in thousandths, memory in a unit of its own. */
export const RESOURCES: Record<ResourceName, Resource> = {
  gpu: { name: 'GPU', unit: 'GPUs', toPeople: (value) => value, toRest: (value) => value },
  cpu: { name: 'CPU', unit: 'CPU cores', toPeople: (value) => value / 1000, toRest: (value) => Math.round(value * 1000) },
  memory: { name: 'Memory', unit: 'GB of memory', toPeople: (value, share) => (value * (GB[share.units ?? ''] ?? 1)) / 1000, toRest: (value) => value },
};

export const RESOURCE_NAMES = Object.keys(RESOURCES) as ResourceName[];

export interface UnitData {
  departments: Unit[];
  projects: Unit[];
  /** Names of the node pools, the default one first. */
  pools: string[];
}

export interface UnitRow {
  unit: Unit;
  isDepartment: boolean;
  quota: number;
  limit: number;
  weight: number;
  /** What the projects of a department own; a project's own quota. */
  given: number;
  colour: string;
}

function shareOf(unit: Unit, pool: string, resource: ResourceName): Share | undefined {
  return unit.resources.find((one) => one.nodePool.name === pool)?.[resource];
}

/** A number of people's units; Infinity is unlimited. */
export function quotaOf(unit: Unit, pool: string, resource: ResourceName, member: 'deserved' | 'limit'): number {
  const share = shareOf(unit, pool, resource);
  const value = share?.[member];
  return share === undefined || typeof value !== 'number' || value < 0 ? Infinity : RESOURCES[resource].toPeople(value, share);
}

export function weightOf(unit: Unit, pool: string, resource: ResourceName): number {
  return shareOf(unit, pool, resource)?.overQuotaWeight ?? 1;
}

const byAge = (a: Unit, b: Unit): number => Number(a.id) - Number(b.id);
const byName = (a: Unit, b: Unit): number => a.name.localeCompare(b.name);

/** Hues go round by the age of the department, so that a new one changes no other; projects are three shades of it. */
export function coloursOf(departments: Unit[], projects: Unit[]): Map<string, string> {
  const colours = new Map<string, string>();
  for (const [i, department] of departments.toSorted(byAge).entries()) {
    colours.set(department.id, `--q${i % 6}`);
    const own = projects.filter((project) => project.parentId === department.id).toSorted(byAge);
    for (const [k, project] of own.entries()) colours.set(project.id, `--q${i % 6}${['', 'l', 'd'][k % 3]}`);
  }
  return colours;
}

/** Departments, each followed by its projects; the filter keeps the department of a project that it finds. */
export function unitRows({ departments, projects }: UnitData, pool: string, resource: ResourceName, words: string): UnitRow[] {
  const colours = coloursOf(departments, projects);
  const known = new Set(departments.map((department) => department.id));
  const rows: UnitRow[] = [];
  const rowOf = (unit: Unit, isDepartment: boolean, children: Unit[]): UnitRow => {
    const owned = children.map((child) => quotaOf(child, pool, resource, 'deserved')).filter(Number.isFinite);
    const quota = quotaOf(unit, pool, resource, 'deserved');
    return {
      unit, isDepartment, quota, limit: quotaOf(unit, pool, resource, 'limit'), weight: weightOf(unit, pool, resource), colour: colours.get(unit.id) ?? '--other',
      given: isDepartment ? owned.reduce((sum, value) => sum + value, 0) : Number.isFinite(quota) ? quota : 0,
    };
  };
  for (const department of departments.toSorted(byName)) {
    const children = projects.filter((project) => project.parentId === department.id).toSorted(byName);
    const found = children.filter((project) => matches(words, project.name, project.description, department.name));
    if (!found.length && !matches(words, department.name, department.description)) continue;
    rows.push(rowOf(department, true, children), ...found.map((project) => rowOf(project, false, [])));
  }
  // Projects of a department that one may not see.
  const others = projects.filter((project) => !known.has(project.parentId ?? '') && matches(words, project.name));
  rows.push(...others.toSorted(byName).map((project) => rowOf(project, false, [])));
  return rows;
}

/** The quotas of all departments that have one. */
export function sumOfQuotas(rows: UnitRow[]): number {
  return rows.filter((row) => row.isDepartment && Number.isFinite(row.quota)).reduce((sum, row) => sum + row.quota, 0);
}

export function ledgerLead(rows: UnitRow[], pool: string, resource: ResourceName): string {
  const departments = rows.filter((row) => row.isDepartment).length;
  const projects = rows.length - departments;
  const verb = departments === 1 ? 'owns' : 'own';
  return `${countText(departments, 'department')} with ${countText(projects, 'project')} ${verb} ${amountText(sumOfQuotas(rows))} ${RESOURCES[resource].unit} in the node pool ${pool}.`;
}
