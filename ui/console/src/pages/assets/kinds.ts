// SPDX-License-Identifier: Apache-2.0

/* What there is of assets, and the fields of each kind. */
import type { SpecField } from '../../parts/spec';

export interface AssetKind {
  /** As `meta.kind` names it. */
  kind: string;
  /** Where it is created, below /api/v1/asset/. */
  path: string;
  name: string;
  /** What may be done to it is named by this, such as "environments:create". */
  permission: string;
  fields: SpecField[];
  /** Fields of an asset that is there; all of them where this is left out. */
  changes?: SpecField[];
  /** Credentials of these kinds can be named by the member. */
  credential?: { member: string; label: string; kinds: string[] };
  canBePrivate?: boolean;
  /** What is deleted with it. */
  lost: string;
  /** What its row says. */
  summary: (spec: Record<string, unknown>) => string;
}

export interface AssetGroup {
  path: string;
  title: string;
  /** Where all of them are listed, below /api/v1/asset/. */
  list: string;
  one: string;
  kinds: AssetKind[];
  lead: string;
  empty: string;
}

const text = (...values: unknown[]): string => values.filter((value) => typeof value === 'string' || typeof value === 'number').join(' ');

const MOUNT: SpecField = { path: 'mountPath', label: 'Mounted at', placeholder: '/data' };
const READ_ONLY: SpecField = { path: 'readOnly', label: 'Read only', kind: 'tick' };
const EXISTING: SpecField = { path: 'existingSecretName', label: 'Or a Secret of the cluster', hint: 'Its name, instead of everything above' };
const NO_OBJECT = 'Workloads that were submitted with it keep what they took from it.';
const SECRET = 'Its Secret in the namespace of each project is deleted. Pods that mount it do not start again.';

const environment: AssetKind = {
  kind: 'environment', path: 'environment', name: 'Environment', permission: 'environments', lost: NO_OBJECT,
  fields: [
    { path: 'image', label: 'Image', placeholder: 'pytorch/pytorch:2.9' },
    { path: 'imagePullPolicy', label: 'Pull the image', kind: 'choice', options: [['', 'as the cluster does'], ['IfNotPresent', 'when it is missing'], ['Always', 'always'], ['Never', 'never']] },
    { path: 'command', label: 'Command', placeholder: 'python', hint: 'Empty: that of the image' }, { path: 'args', label: 'Arguments', placeholder: 'train.py' },
    { path: 'workingDir', label: 'Working directory', placeholder: '/workspace' }, { path: 'environmentVariables', label: 'Variables', kind: 'pairs' },
    { path: 'runAsUid', label: 'User', kind: 'number', placeholder: 'as the image' }, { path: 'runAsGid', label: 'Group', kind: 'number', placeholder: 'as the image' },
    { path: 'readOnlyRootFilesystem', label: 'The image cannot be written to', kind: 'tick' },
  ],
  summary: (spec) => text(spec.image),
};

const compute: AssetKind = {
  kind: 'compute', path: 'compute', name: 'Compute resource', permission: 'compute-resources', lost: NO_OBJECT,
  fields: [
    { path: 'gpuDevicesRequest', label: 'GPUs', kind: 'number', placeholder: '1' },
    { path: 'gpuRequestType', label: 'A part of a GPU', kind: 'choice', options: [['', 'no'], ['portion', 'as a share'], ['memory', 'as memory']] },
    { path: 'gpuPortionRequest', label: 'Share of the GPU', kind: 'number', placeholder: '0.5' }, { path: 'gpuMemoryRequest', label: 'Memory of the GPU', placeholder: '20Gi' },
    { path: 'cpuCoreRequest', label: 'CPUs', kind: 'number', placeholder: '8' }, { path: 'cpuCoreLimit', label: 'At most CPUs', kind: 'number' },
    { path: 'cpuMemoryRequest', label: 'Memory', placeholder: '64Gi' }, { path: 'cpuMemoryLimit', label: 'At most memory' },
    { path: 'largeShmRequest', label: 'Large shared memory', kind: 'tick' },
  ],
  summary: (spec) => [
    spec.gpuRequestType === 'memory' ? text(spec.gpuMemoryRequest, 'of a GPU') : spec.gpuRequestType === 'portion' ? text(spec.gpuPortionRequest, 'GPU') : spec.gpuDevicesRequest ? text(spec.gpuDevicesRequest, spec.gpuDevicesRequest === 1 ? 'GPU' : 'GPUs') : '',
    spec.cpuCoreRequest ? text(spec.cpuCoreRequest, 'CPUs') : '', text(spec.cpuMemoryRequest),
  ].filter(Boolean).join(', '),
};

const sources: AssetKind[] = [
  {
    kind: 'pvc', path: 'datasource/pvc', name: 'Volume claim', permission: 'pvc-assets',
    lost: 'Its claim in the namespace of each project is deleted and, depending on the storage class, the data in it. An existing claim stays.',
    fields: [
      { path: 'path', label: 'Mounted at', placeholder: '/data' }, { path: 'existingPvc', label: 'The claim is in the namespaces already', kind: 'tick' },
      { path: 'claimName', label: 'Name of the claim', hint: 'Of an existing claim' }, { path: 'claimInfo.size', label: 'Size', placeholder: '100Gi', hint: 'Of a new claim' },
      { path: 'claimInfo.storageClass', label: 'Storage class', placeholder: 'that of the cluster' }, READ_ONLY,
    ],
    changes: [{ path: 'path', label: 'Mounted at' }],
    summary: (spec) => text(spec.claimName ?? (spec.claimInfo as { size?: string } | undefined)?.size, 'at', spec.path),
  },
  {
    kind: 'nfs', path: 'datasource/nfs', name: 'NFS', permission: 'nfs-assets', lost: NO_OBJECT,
    fields: [{ path: 'server', label: 'Server', placeholder: 'nfs.example.com' }, { path: 'path', label: 'Path on the server', placeholder: '/exports/data' }, MOUNT, READ_ONLY],
    summary: (spec) => `${text(spec.server)}:${text(spec.path)} at ${text(spec.mountPath)}`,
  },
  {
    kind: 'git', path: 'datasource/git', name: 'Git', permission: 'git-assets', lost: NO_OBJECT,
    fields: [
      { path: 'repository', label: 'Repository', placeholder: 'https://git.example.com/team/code.git' }, { path: 'branch', label: 'Branch', placeholder: 'main' },
      { path: 'revision', label: 'Revision' }, { path: 'path', label: 'Cloned to', placeholder: '/code' },
    ],
    credential: { member: 'credentialId', label: 'Credential', kinds: ['password', 'genericSecret'] },
    summary: (spec) => text(spec.repository, 'at', spec.path),
  },
  {
    kind: 's3', path: 'datasource/s3', name: 'S3', permission: 's3-assets', lost: NO_OBJECT,
    fields: [{ path: 'url', label: 'Service', placeholder: 'https://s3.example.com' }, { path: 'bucket', label: 'Bucket' }, { path: 'path', label: 'Mounted at', placeholder: '/data' }],
    credential: { member: 'accessKeyAssetId', label: 'Access key', kinds: ['accessKey'] },
    summary: (spec) => text(spec.bucket, 'at', spec.path),
  },
  {
    kind: 'hostPath', path: 'datasource/host-path', name: 'Path of the host', permission: 'host-path-assets', lost: NO_OBJECT,
    fields: [{ path: 'path', label: 'Path on the node', placeholder: '/scratch' }, MOUNT, READ_ONLY],
    summary: (spec) => text(spec.path, 'at', spec.mountPath),
  },
  {
    kind: 'config-map', path: 'datasource/config-map', name: 'ConfigMap', permission: 'cm-volume-assets', lost: NO_OBJECT,
    fields: [{ path: 'configMap', label: 'Name of the ConfigMap', hint: 'It has to be in the namespaces' }, MOUNT, { path: 'subPath', label: 'One key of it' }],
    summary: (spec) => text(spec.configMap, 'at', spec.mountPath),
  },
  {
    kind: 'secret-volume', path: 'datasource/secrets', name: 'Secret as files', permission: 'secret-volume-assets', lost: NO_OBJECT, fields: [MOUNT],
    credential: { member: 'credentialAssetId', label: 'Credential', kinds: ['accessKey', 'password', 'dockerRegistry', 'genericSecret', 'ngcApiKey'] },
    summary: (spec) => text('at', spec.mountPath),
  },
];

const credentials: AssetKind[] = [
  {
    kind: 'password', path: 'credentials/password', name: 'User and password', permission: 'credentials', changes: [], lost: SECRET,
    fields: [{ path: 'user', label: 'User' }, { path: 'password', label: 'Password', kind: 'secret' }, EXISTING], summary: (spec) => text(spec.existingSecretName ?? spec.user),
  },
  {
    kind: 'accessKey', path: 'credentials/access-key', name: 'Access key', permission: 'credentials', changes: [], lost: SECRET,
    fields: [{ path: 'accessKeyId', label: 'Access key ID' }, { path: 'secretAccessKey', label: 'Secret access key', kind: 'secret' }, EXISTING],
    summary: (spec) => text(spec.existingSecretName ?? spec.accessKeyId),
  },
  {
    kind: 'dockerRegistry', path: 'credentials/docker-registry', name: 'Docker registry', permission: 'credentials', changes: [], canBePrivate: true, lost: SECRET,
    fields: [{ path: 'url', label: 'Registry', placeholder: 'registry.example.com' }, { path: 'user', label: 'User' }, { path: 'password', label: 'Password', kind: 'secret' }, EXISTING],
    summary: (spec) => text(spec.existingSecretName ?? spec.url),
  },
  {
    kind: 'genericSecret', path: 'credentials/generic-secret', name: 'Keys and values', permission: 'credentials', changes: [], canBePrivate: true, lost: SECRET,
    fields: [{ path: 'keyValuePairs', label: 'Keys and values', kind: 'pairs', names: ['key', 'value'], isSecret: true }, EXISTING],
    summary: (spec) => text(spec.existingSecretName ?? ((spec.keyValuePairs ?? []) as { key: string }[]).map((pair) => pair.key).join(', ')),
  },
  {
    kind: 'ngcApiKey', path: 'credentials/ngc-api-key', name: 'NGC API key', permission: 'credentials', changes: [], lost: SECRET,
    fields: [{ path: 'ngc_api_key', label: 'API key', kind: 'secret' }], summary: () => '',
  },
];

const registry: AssetKind = {
  kind: 'registry', path: 'registries', name: 'Registry', permission: 'registries', lost: NO_OBJECT,
  fields: [{ path: 'url', label: 'Registry', placeholder: 'registry.example.com' }, { path: 'user', label: 'User' }, { path: 'password', label: 'Password', kind: 'secret', hint: 'The stars stand for the password that is there' }],
  summary: (spec) => text(spec.url),
};

export const GROUPS: AssetGroup[] = [
  {
    path: '/assets/environments', title: 'Environments', list: 'environment', one: 'environment', kinds: [environment], lead: 'An environment is an image with its command and variables.',
    empty: 'Save an image with its command and variables once, then pick it by name.',
  },
  {
    path: '/assets/compute', title: 'Compute resources', list: 'compute', one: 'compute resource', kinds: [compute], lead: 'A compute resource is a size: GPUs, CPUs and memory.',
    empty: 'Save a size such as half a GPU with 8 CPUs once, then pick it by name.',
  },
  {
    path: '/assets/data-sources', title: 'Data sources', list: 'datasource', one: 'data source', kinds: sources, lead: 'A data source is what containers find below a path.',
    empty: 'Save where data are and where they are mounted once, then pick them by name. A policy can give a data source to every workload.',
  },
  {
    path: '/assets/credentials', title: 'Credentials', list: 'credentials', one: 'credential', kinds: credentials, lead: 'Secrets are encrypted, and never shown again.',
    empty: 'Save a password or a key once: projects in its scope get it as a Secret, and nobody reads it here again.',
  },
  {
    path: '/assets/registries', title: 'Registries', list: 'registries', one: 'registry', kinds: [registry], lead: 'A registry is where images come from.', empty: 'Save the address and the account of a registry.',
  },
];
