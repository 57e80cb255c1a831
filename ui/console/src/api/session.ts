// SPDX-License-Identifier: Apache-2.0

/* Who looks at the page, and what it may do where. */
import { signal } from '@preact/signals';
import { ask, OURS } from './client';

export interface Grant {
  scopeType: string;
  scopeId: string;
  permissions: string[];
}

export interface Me {
  id: string;
  name: string;
  type: string;
  mustChangePassword: boolean;
  csrfToken?: string;
  clusterId: string;
  clusterName: string;
  grants: Grant[];
}

/** A department or a project by identifiers; {} is the whole tenant. */
export interface Place {
  department?: string | undefined;
  project?: string | undefined;
}

/** Null while nobody has signed in. */
export const me = signal<Me | null>(null);

export function token(): string {
  return me.value?.csrfToken ?? '';
}

export async function loadMe(): Promise<Me> {
  const answer = await ask<Me>('GET', `${OURS}/me`);
  me.value = answer;
  return answer;
}

function reaches(grant: Grant, place: Place): boolean {
  if (grant.scopeType === 'department') return grant.scopeId === place.department;
  if (grant.scopeType === 'project') return grant.scopeId === place.project;
  return true;
}

/** Whether a place may be touched; `permission` as "project:update". */
export function may(permission: string, place: Place = {}): boolean {
  return (me.value?.grants ?? []).some((grant) => grant.permissions.includes(permission) && reaches(grant, place));
}

export function maySomewhere(permission: string): boolean {
  return (me.value?.grants ?? []).some((grant) => grant.permissions.includes(permission));
}
