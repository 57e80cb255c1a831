// SPDX-License-Identifier: Apache-2.0

/* What the REST answers, as far as the pages show it. */

export type ResourceName = 'gpu' | 'cpu' | 'memory';

/** What a unit owns of one resource in one node pool; null or a negative number is unlimited. */
export interface Share {
  deserved: number | null;
  limit: number | null;
  overQuotaWeight: number;
  units?: string;
}

export type PoolShares = { nodePool: { name: string } } & Partial<Record<ResourceName, Share>>;

/** A department or a project. */
export interface Unit {
  id: string;
  name: string;
  description: string;
  parentId?: string;
  parent?: { name: string } | null;
  resources: PoolShares[];
  status: { phase: string; phaseMessage: string; namespace?: string };
  createdAt: string;
  createdBy: string;
  updatedAt: string;
  updatedBy: string;
}

export type Strategy = 'binpack' | 'spread';

export interface NodePool {
  id: string;
  name: string;
  isDefault: boolean;
  labelKey: string;
  labelValue: string;
  placementStrategy: { gpu: Strategy; cpu: Strategy };
  schedulingConfiguration?: { minGuaranteedRuntime?: string };
  phase: string;
  phaseMessage: string;
  status: { nodes: string[] };
  createdAt: string;
  createdBy: string;
  updatedAt: string;
  updatedBy: string;
}

export interface User {
  id: string;
  username: string;
  isLocal: boolean;
  idp?: string;
  idpAlias?: string;
  groups?: string[];
  createdAt: string;
  createdBy: string;
  lastLogin?: string;
  tempPassword?: string;
}

export interface Account {
  id: string;
  name: string;
  clientId: string;
  clientSecret?: string;
  enabled: boolean;
  createdAt: string;
  createdBy: string;
  updatedAt: string;
  lastLogin?: string;
}

export interface Rule {
  id: number;
  subjectId: string;
  subjectType: string;
  roleId: number;
  roleName: string;
  scopeType: string;
  scopeId: string;
  scopeName: string;
  createdAt: string;
  createdBy: string;
}

export interface Permission {
  resourceType: string;
  groupId: string;
  actions: string[];
}

export interface Role {
  id: number;
  name: string;
  description: string;
  custom: boolean;
  permissions: Permission[];
  updatedAt: string;
}

export interface AuditEntry {
  id: string;
  timestamp: string;
  subject: string;
  subject_type: string;
  action: string;
  entity_type: string;
  entity_name: string;
  entity_id: string;
  result: string;
  http_status_code: number;
  http_method: string;
  url: string;
  source_ip: string;
}

/** What policies and assets say of themselves. Identifiers of projects are numbers there. */
export interface Meta {
  id: string;
  name: string;
  description?: string;
  scope: string;
  departmentId?: string;
  projectId?: string | number;
  createdBy: string;
  createdAt: string;
  updatedBy?: string;
  updatedAt?: string;
}
