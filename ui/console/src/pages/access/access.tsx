// SPDX-License-Identifier: Apache-2.0

/* What the four parts of the access page share: the way between them, and rules as sentences. */
import type { ComponentChildren } from 'preact';
import { maySomewhere } from '../../api/session';
import type { Rule } from '../../api/types';
import { FilterBox } from '../../parts/filter';
import { findPage, isAllowed } from '../../frame/pages';
import { Head, Panel } from '../../parts/page';
import { Tabs } from '../../parts/tabs';
import { address, to } from '../../state/address';
import { plain } from '../../text/plain';

export const TITLE = 'Access';

const PARTS = [['/access/users', 'Users'], ['/access/service-accounts', 'Service accounts'], ['/access/rules', 'Access rules'], ['/access/roles', 'Roles']] as const;

export function AccessHead({ lead, children }: { lead: string; children?: ComponentChildren }) {
  const shown = PARTS.filter(([path]) => isAllowed(findPage(path)!));
  return (
    <>
      <Head title={TITLE} lead={lead}>{children}</Head>
      <Tabs label="Access" tabs={shown.map(([path, text]) => ({ text, where: path, isHere: path === address.value.path }))} />
    </>
  );
}

export function AccessPanel({ title, label, children }: { title: string; label: string; children: ComponentChildren }) {
  return <Panel id="list" title={title} tools={<FilterBox label={label} />}>{children}</Panel>;
}

export const SUBJECT_KINDS: Record<string, string> = { user: 'User', 'service-account': 'Service account', app: 'Service account', group: 'Group' };

export function scopeText(rule: Rule): string {
  return rule.scopeType === 'tenant' ? 'everything' : rule.scopeType === 'cluster' ? `the cluster ${rule.scopeName}` : `the ${rule.scopeType} ${rule.scopeName}`;
}

export function rulesOf(rules: Rule[] | null, subject: string): Rule[] {
  return (rules ?? []).filter((rule) => rule.subjectId === subject);
}

export function RolesCell({ rules, subject }: { rules: Rule[] | null; subject: string }) {
  const count = rulesOf(rules, subject).length;
  return <span class={count ? undefined : 'zero'}>{rules === null ? '–' : count || 'none'}</span>;
}

/** The roles of one subject, and a way to more. */
export function Roles({ rules, subject, kind }: { rules: Rule[] | null; subject: string; kind: string }) {
  if (!rules) return null;
  const own = rulesOf(rules, subject);
  return (
    <section class="drawer-part">
      <h3>Roles</h3>
      {own.length ? <ul class="sentences">{own.map((rule) => <li key={rule.id}><b>{plain(rule.roleName)}</b>{` of ${plain(scopeText(rule))}`}</li>)}</ul>
        : <p class="dim">None yet: it can sign in, but sees nothing.</p>}
      {maySomewhere('access_rules:create') && <p class="actions"><a class="button" href={to('/access/rules', { new: 'rule', kind, subject })}>Give a role</a></p>}
    </section>
  );
}
