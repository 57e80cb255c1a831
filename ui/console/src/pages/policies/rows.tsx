// SPDX-License-Identifier: Apache-2.0

/* Rules of a policy: as a table, and as rows that are edited. */
import { useId } from 'preact/hooks';
import { scopeKey, scopeText, type Units } from '../../api/scopes';
import { Field } from '../../parts/form';
import { Icon } from '../../parts/icon';
import { Table, type Column } from '../../parts/table';
import { plain } from '../../text/plain';
import { isYesNo, membersOf, parseValue, pathOf, RULES, ruleText, valueText, type FlatRule } from './flat';
import './policies.css';

/** A rule while it is edited: its value is the text that was typed. */
export interface Draft {
  id: number;
  member: string;
  rule: string;
  text: string;
}

let lastId = 0;

export function draftOf(rule: FlatRule): Draft {
  return { id: ++lastId, member: rule.member, rule: rule.rule, text: valueText(rule.rule, rule.value) };
}

export function rulesOf(drafts: Draft[]): FlatRule[] {
  return drafts.filter((one) => one.member).map(({ member, rule, text }) => ({ member, rule, value: parseValue(rule, text) }));
}

const YES_NO = [['yes', 'yes'], ['no', 'no']] as const;

/** The path of a field, at which the server's word about it is shown; a row without a member has none yet. */
function placeOf(draft: Draft): string {
  return draft.member ? pathOf(draft) : `row${draft.id}.value`;
}

export function RuleRows({ kind, drafts, change }: { kind: string; drafts: Draft[]; change: (drafts: Draft[]) => void }) {
  const list = useId();
  const set = (id: number, part: Partial<Draft>): void => change(drafts.map((one) => (one.id === id ? { ...one, ...part } : one)));
  const setRule = (draft: Draft, rule: string): void => set(draft.id, { rule, text: isYesNo(rule) ? 'yes' : isYesNo(draft.rule) ? '' : draft.text });
  return (
    <div class="rules">
      <datalist id={list}>{membersOf(kind).map((member) => <option key={member} value={member} />)}</datalist>
      {drafts.map((draft, i) => (
        <div class="rule" key={draft.id} role="group" aria-label={`Rule ${i + 1}`}>
          <Field path={`row${draft.id}.member`} label="Member" hidesLabel value={draft.member} placeholder="compute.gpuDevicesRequest" list={list} onChange={(member) => set(draft.id, { member: member.trim() })} />
          <Field path={`row${draft.id}.rule`} label="Rule" hidesLabel options={Object.entries(RULES)} value={draft.rule} onChange={(rule) => setRule(draft, rule)} />
          <Field key={isYesNo(draft.rule) ? 'choice' : 'text'} path={placeOf(draft)} label="Value" hidesLabel value={draft.text} placeholder="value"
            {...(isYesNo(draft.rule) ? { options: YES_NO.slice() } : {})} onChange={(text) => set(draft.id, { text })} />
          <button type="button" class="icon" aria-label={`Remove rule ${i + 1}`} title="Remove" onClick={() => change(drafts.filter((one) => one.id !== draft.id))}><Icon name="cross" /></button>
        </div>
      ))}
      <p class="actions"><button type="button" class="button" onClick={() => change([...drafts, { id: ++lastId, member: '', rule: 'max', text: '' }])}><Icon name="plus" />Add a rule</button></p>
    </div>
  );
}

function columns(units: Units | null): Column<FlatRule>[] {
  const rows: Column<FlatRule>[] = [
    { head: 'Member of the workload', isName: true, className: 'member', cell: (row) => <code>{plain(row.member)}</code> },
    { head: 'Rule', cell: ruleText },
  ];
  if (!units) return rows;
  return [...rows, { head: 'Set by', className: 'note', cell: (row) => (row.source ? scopeText(scopeKey(row.source), units) : row.rule === 'default' ? 'the closest scope' : '–') }];
}

/** With `units`, a rule says by which scope it was set. */
export function RuleTable({ label, rules, units = null }: { label: string; rules: FlatRule[]; units?: Units | null }) {
  return <Table label={label} rows={rules} columns={columns(units)} idOf={(row) => `${row.member} ${row.rule}`} />;
}
