// SPDX-License-Identifier: Apache-2.0

/* A form that says, while one types, whether the draft starts now, makes others leave, or waits. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { call, get, Refusal, REST } from '../../api/client';
import { readProjects } from '../../api/lists';
import { me } from '../../api/session';
import type { Unit } from '../../api/types';
import { usePreview, type Answer } from '../../live/preview';
import { gpuText, sentence } from '../../live/text';
import type { Why } from '../../live/why';
import { Segments } from '../../parts/filter';
import { Field, Form, Tick, type Values } from '../../parts/form';
import { Body, Head } from '../../parts/page';
import { Empty } from '../../parts/states';
import { Shape } from '../../parts/state-pill';
import { Outside } from '../../parts/text';
import { go, here, param, to } from '../../state/address';
import { useRead } from '../../state/read';
import { say } from '../../state/say';
import { amountText, countText } from '../../text/format';
import { plain } from '../../text/plain';
import './submit.css';

const KINDS = [['training', 'Training', 'trainings'], ['workspace', 'Workspace', 'workspaces']] as const;
const SIZES = ['0.25', '0.5', '1', '2', '4', '8'];

interface Draft { queue: string; pods: number; gpus: number; cpus?: string; memory?: string; isPreemptible: boolean }

const OUTCOMES = {
  starts: ['fine', 'Starts now', 'There is room for it in the next scheduling cycle.'],
  preempts: ['soon', 'Starts after evictions', 'It starts as soon as these have left:'],
  waits: ['not now', 'Waits', 'It does not start in the next scheduling cycle.'],
  never: ['never', 'Never', 'It cannot run on this cluster as it is.'],
} as const;

const REMEDIES_MAX = 4;

/** What stands in the way, and the changes that would help. */
function WhyNot({ why }: { why: Why }) {
  const remedies = (why.remedies ?? []).slice(0, REMEDIES_MAX);
  return (
    <>
      <p><Outside text={sentence(why.causes?.[0]?.message ?? why.message)} /></p>
      {remedies.length > 0 && <><p class="dim">What would help:</p><ul class="leaving">{remedies.map((remedy) => <li key={remedy.text}><Outside text={sentence(remedy.text)} /></li>)}</ul></>}
    </>
  );
}

function LiveAnswer({ answer, draft }: { answer: Answer; draft: Draft | null }) {
  if (!draft) return <p class="dim">Choose a project and the number of GPUs to see whether it starts now.</p>;
  if (!answer) return <p class="dim">Asking the scheduler.</p>;
  if ('refusal' in answer) return <p class="note-line warn"><Outside text={answer.refusal.status === 501 ? `Muster cannot tell yet: ${answer.refusal.message}` : answer.refusal.message} /></p>;
  const { preview } = answer;
  const [shape, title, text] = OUTCOMES[preview.outcome ?? 'waits'];
  const leaving = preview.workloads.filter((row) => row.with.evictedPods > 0);
  const queue = preview.queues.find((row) => row.queue === draft.queue);
  return (
    <div data-outcome={preview.outcome}>
      <h3><Shape of={shape} />{title}</h3>
      <p class="dim">{text}</p>
      {leaving.length > 0 && <ul class="leaving">{leaving.map((row) => <li key={row.workload}><Outside text={row.workload} /> <span class="dim">{`of ${plain(row.queue)}, ${countText(row.with.evictedPods, 'pod')}`}</span></li>)}</ul>}
      {preview.hidden && <p class="dim">{`${countText(preview.hidden.workloads, 'workload')} that you do not see.`}</p>}
      {preview.why && <WhyNot why={preview.why} />}
      {queue && <p>{`${plain(queue.queue)}: ${amountText(queue.allocated.without)} → ${gpuText(queue.allocated.with)} allocated, fair share ${amountText(queue.fairShare.with)}.`}</p>}
    </div>
  );
}

/** The draft that the form holds, for the preview; null until it can be asked about. */
function draftOf(form: HTMLElement, projects: Unit[]): Draft | null {
  const text = (path: string): string => form.querySelector<HTMLInputElement | HTMLSelectElement>(`[data-path="${path}"]`)?.value.trim() ?? '';
  const project = projects.find((one) => one.id === text('projectId'));
  const gpus = Number(text('gpus') || '0');
  if (!project || !Number.isFinite(gpus) || gpus < 0 || (gpus > 1 && !Number.isInteger(gpus))) return null;
  const isPreemptible = form.querySelector<HTMLInputElement>('[data-path="preemptible"]')?.checked ?? true;
  const draft: Draft = { queue: project.name, pods: Math.max(1, Math.floor(Number(text('pods') || '1')) || 1), gpus, isPreemptible };
  if (text('cpus')) draft.cpus = text('cpus');
  if (text('memory')) draft.memory = text('memory');
  return draft;
}

function computeOf(values: Values): Record<string, unknown> {
  const gpus = Number(values.text('gpus') || '0');
  if (!Number.isFinite(gpus) || gpus < 0 || (gpus > 1 && !Number.isInteger(gpus))) throw new Refusal(400, 'gpus: a part of one GPU, such as 0.5, or a whole number of them');
  const compute: Record<string, unknown> = gpus === 0 ? {} : gpus < 1 ? { gpuDevicesRequest: 1, gpuRequestType: 'portion', gpuPortionRequest: gpus } : { gpuDevicesRequest: gpus };
  if (values.text('cpus')) compute.cpuCoreRequest = Number(values.text('cpus'));
  if (values.text('memory')) compute.cpuMemoryRequest = values.text('memory');
  return compute;
}

/** The command as Run:ai has it: the program, and what it is given. */
function bodyOf(values: Values, kind: string, template: Template | null): Record<string, unknown> {
  const spec: Record<string, unknown> = { compute: computeOf(values), preemptibility: values.isTicked('preemptible') ? 'preemptible' : 'non-preemptible' };
  if (values.text('image')) spec.image = values.text('image');
  if (values.text('command')) spec.command = values.text('command');
  if (values.text('args')) spec.args = values.text('args');
  const pods = Number(values.text('pods') || '1');
  if (kind === 'training' && pods > 1) Object.assign(spec, { parallelism: pods, completions: pods });
  return { name: values.text('name'), projectId: values.text('projectId'), clusterId: me.value!.clusterId, ...(template ? { templateId: template.meta.id } : {}), spec };
}

const DRAFT_KEY = 'muster-draft';

function keptDraft(): Record<string, string> {
  try { return JSON.parse(sessionStorage.getItem(DRAFT_KEY) ?? '{}') as Record<string, string>; } catch { return {}; }
}

function keep(form: HTMLElement): void {
  const values = Object.fromEntries([...form.querySelectorAll<HTMLInputElement>('[data-path]')].map((input) => [input.dataset.path!, input.type === 'checkbox' ? String(input.checked) : input.value]));
  try { sessionStorage.setItem(DRAFT_KEY, JSON.stringify(values)); } catch { /* It does not survive a reload then. */ }
}

function forget(): void {
  try { sessionStorage.removeItem(DRAFT_KEY); } catch { /* There is none. */ }
}

/** What the address names as the template; what the form leaves empty comes from there. */
interface Template { meta: { id: string; name: string }; spec: { image?: string; command?: string; args?: string; compute?: { gpuDevicesRequest?: number; gpuPortionRequest?: number; cpuCoreRequest?: number; cpuMemoryRequest?: string } } }

function SubmitForm({ projects, template }: { projects: Unit[]; template: Template | null }) {
  const box = useRef<HTMLDivElement>(null);
  const kept = useMemo(keptDraft, []);
  const preset = template?.spec;
  const [draft, setDraft] = useState<Draft | null>(null);
  const kind = KINDS.find(([name]) => name === param('kind')) ?? KINDS[0];
  const answer = usePreview(draft && { workload: draft });
  const look = (): void => {
    if (!box.current) return;
    setDraft(draftOf(box.current, projects));
    keep(box.current);
  };
  useEffect(look, [projects, kind]);
  const setGpus = (size: string): void => {
    const input = box.current!.querySelector<HTMLInputElement>('[data-path="gpus"]')!;
    input.value = size;
    look();
  };
  const send = async (values: Values): Promise<string> => {
    await call('POST', `${REST}/workloads/${kind[2]}`, bodyOf(values, kind[0], template));
    return values.text('name');
  };
  const done = (name: string): void => {
    forget();
    say(`${plain(name)} was submitted.`);
    go(to('/workloads', { q: name }));
  };
  return (
    <div class="submit" ref={box} onInput={look} onChange={look}>
      <section class="panel submit-form">
        <Segments label="Kind" choices={KINDS.map(([name, text]) => ({ text, where: here({ kind: name === 'training' ? '' : name }), isOn: name === kind[0] }))} />
        {template && <p class="note-line">{`From the template ${plain(template.meta.name)}: what you leave empty is as it says.`} <a href={here({ template: '' })}>Without it</a></p>}
        <Form save="Submit" send={send} done={done}>
          <div class="two">
            <Field path="name" label="Name" value={kept.name} placeholder="sim2real-ppo" isRequired />
            <Field path="projectId" label="Project" value={kept.projectId ?? projects[0]?.id} options={projects.map((one) => [one.id, one.name])} />
          </div>
          <Field path="image" label="Image" value={kept.image} placeholder={preset?.image ?? 'pytorch/pytorch'} isRequired={!preset?.image} />
          <div class="two">
            <Field path="command" label="Command" value={kept.command} placeholder={preset?.command ?? 'python'} hint={preset?.command ? '' : 'Empty: that of the image'} />
            <Field path="args" label="Arguments" value={kept.args} placeholder={preset?.args ?? 'train.py --epochs 10'} />
          </div>
          <div>
            <Field path="gpus" label="GPUs" value={kept.gpus ?? String(preset?.compute?.gpuPortionRequest ?? preset?.compute?.gpuDevicesRequest ?? 1)} mode="decimal" hint="A part such as 0.5 shares a GPU: that part of its memory, and at least that share of its time" />
            <p class="sizes" role="group" aria-label="Sizes">{SIZES.map((size) => <button key={size} type="button" class="button" aria-pressed={draft !== null && draft.gpus === Number(size)} onClick={() => setGpus(size)}>{size}</button>)}</p>
          </div>
          <div class="three">
            <Field path="cpus" label="CPUs" value={kept.cpus} mode="decimal" placeholder={String(preset?.compute?.cpuCoreRequest ?? 8)} />
            <Field path="memory" label="Memory" value={kept.memory} placeholder={preset?.compute?.cpuMemoryRequest ?? '64Gi'} />
            {kind[0] === 'training' && <Field path="pods" label="Pods" value={kept.pods ?? '1'} mode="numeric" hint="They start together" />}
          </div>
          <Tick path="preemptible" text="May be preempted; needed for more than the quota" isTicked={kept.preemptible ? kept.preemptible === 'true' : kind[0] === 'training'} />
        </Form>
      </section>
      <section class="panel live-answer answer" aria-labelledby="answer-title">
        <h2 id="answer-title">If you submit this now</h2>
        <div aria-live="polite"><LiveAnswer answer={answer} draft={draft} /></div>
        <p class="foot-note">The draft was placed on a copy of the cluster. The result may differ if you submit it later.</p>
      </section>
    </div>
  );
}

export default function Submit() {
  const id = param('template');
  const read = useRead(`projects ${id}`, async () => {
    const [projects, template] = await Promise.all([readProjects(), id ? get<Template>(`${REST}/workload-templates/${encodeURIComponent(id)}`) : null]);
    return { projects, template };
  }, { topics: ['org-units'] });
  return (
    <Body title="Submit" read={read}>
      {({ projects, template }) => (
        <>
          <Head title="Submit" lead="A training ends by itself; a workspace runs until it is stopped." />
          {projects.length ? <SubmitForm key={template?.meta.id ?? ''} projects={projects.toSorted((a, b) => a.name.localeCompare(b.name))} template={template} />
            : <section class="panel"><Empty title="No project yet" text="Workloads belong to a project, which has a quota. Create one on the Quota page, or ask an administrator for a role in one."><a class="button" href="/quota">Quota</a></Empty></section>}
        </>
      )}
    </Body>
  );
}
