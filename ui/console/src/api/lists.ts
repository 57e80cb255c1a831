// SPDX-License-Identifier: Apache-2.0

/* Lists that several pages read, for whoever may read them: empty, or null where it matters that one may not. */
import { get, getAll, REST } from './client';
import { may, maySomewhere } from './session';
import type { Account, NodePool, Role, Rule, Unit, User } from './types';

export async function readDepartments(): Promise<Unit[]> {
  return maySomewhere('department:read') ? getAll<Unit>(`${REST}/org-unit/departments`, 'departments') : [];
}

export async function readProjects(): Promise<Unit[]> {
  return maySomewhere('project:read') ? getAll<Unit>(`${REST}/org-unit/projects`, 'projects') : [];
}

export async function readPools(): Promise<NodePool[] | null> {
  return may('nodepools:read') ? (await get<{ nodepools: NodePool[] }>(`${REST}/node-pools?limit=500`)).nodepools : null;
}

export async function readUsers(): Promise<User[] | null> {
  return maySomewhere('users:read') ? get<User[]>(`${REST}/users?limit=500`) : null;
}

export async function readAccounts(): Promise<Account[] | null> {
  return maySomewhere('service-account:read') ? get<Account[]>(`${REST}/service-accounts`) : null;
}

export async function readRoles(): Promise<Role[]> {
  return maySomewhere('roles:read') ? get<Role[]>(`${REST}/authorization/roles`) : [];
}

/** The list of rules counts its rows and has no "next". */
export async function readRules(): Promise<Rule[] | null> {
  if (!maySomewhere('access_rules:read')) return null;
  const rules: Rule[] = [];
  for (;;) {
    const answer = await get<{ accessRules: Rule[]; displayRecords: number }>(`${REST}/authorization/access-rules?limit=500&offset=${rules.length}`);
    rules.push(...answer.accessRules);
    if (!answer.accessRules.length || rules.length >= answer.displayRecords) return rules;
  }
}
