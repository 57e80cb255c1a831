// SPDX-License-Identifier: Apache-2.0

/* Why a workload waits, and what would help: the answer of `muster why`, so that page and terminal never disagree. */
import type { Why, WhyQueue } from '../live/why';
import { colourOf } from '../live/store';
import { boundText, outlookText, protectionText, reasonTitle, sentence } from '../live/text';
import { amountText, countText } from '../text/format';
import { Chip } from './bars';
import { Copy } from './copy';
import { Icon } from './icon';
import { Shape } from './state-pill';
import { Outside } from './text';

const HOLDERS_MAX = 50;

/** The queue with this workload: allocated, what it asks for, and how much of that is beyond the fair share. */
function AnswerBar({ queue }: { queue: WhyQueue }) {
  const [held, wanted, share, quota] = [queue.allocated.gpu, queue.requested.gpu, queue.fairShare.gpu, queue.quota.gpu];
  const whole = Math.max(held + wanted, share, quota, 1);
  const part = (value: number): string => `${(value / whole) * 100}%`;
  const within = Math.max(0, Math.min(wanted, share - held));
  const pieces: [number, string, string][] = [
    [held, 'held', `${amountText(held)} allocated`], [within, 'asked', `${amountText(within)} requested`], [wanted - within, 'beyond', `${amountText(wanted - within)} beyond`],
  ];
  const marks: [number, string, string][] = quota === share ? [[share, `${amountText(share)} quota and fair share`, 'share']]
    : [[quota, `${amountText(quota)} quota`, 'quota'], [share, `${amountText(share)} fair share`, 'share']];
  const label = `Queue ${queue.name}: ${amountText(held)} GPUs allocated, ${amountText(wanted)} requested, fair share ${amountText(share)}, quota ${boundText(quota)}`;
  const areClose = marks.length === 2 && Math.abs(quota - share) / whole < 0.35;
  return (
    <div class="answer-chart" role="img" aria-label={label}>
      <div class="answer-marks">
        {marks.filter(([value]) => value > 0 && value <= whole).map(([value, text, kind]) => {
          const isLeft = areClose ? value === Math.min(quota, share) : value / whole > 0.7;
          return <span key={kind} class={`${kind}${isLeft ? ' left' : ''}`} style={{ left: part(value) }}>{text}</span>;
        })}
      </div>
      <div class="answer-bar">
        {pieces.filter(([value]) => value > 0).map(([value, kind, text]) => (
          <span key={kind} class={kind} style={{ 'width': part(value), '--c': `var(${colourOf(queue.name)})` }} title={text}>{value / whole > 0.2 ? text : ''}</span>
        ))}
      </div>
    </div>
  );
}

function Answer({ why }: { why: Why }) {
  const queue = why.queues?.[0];
  const causes = why.causes?.length ? why.causes.map((cause) => cause.message) : [why.message];
  return (
    <section class="answer" aria-label="Why it waits">
      <h3><Shape of={why.outlook} />{reasonTitle(why.reason)}</h3>
      {causes.map((cause) => <p key={cause}><Outside text={sentence(cause)} /></p>)}
      <p class="dim">{outlookText(why.outlook)}</p>
      {queue && why.outlook !== 'never' && <AnswerBar queue={queue} />}
    </section>
  );
}

function Remedies({ why }: { why: Why }) {
  const remedies = why.remedies ?? [];
  return (
    <section class="drawer-part" aria-labelledby="remedies-title">
      <h3 id="remedies-title">What would help<small>each was tried on a copy of the cluster, and works</small></h3>
      {remedies.length === 0 && <p class="dim">None of the changes that Muster tried would help.</p>}
      <ol class="remedies">
        {remedies.map((remedy) => (
          <li key={remedy.text}>
            <Outside text={sentence(remedy.text)} />
            {remedy.commands?.length ? <details><summary>Command</summary><Copy text={remedy.commands.join('\n')} /></details> : null}
          </li>
        ))}
      </ol>
      {why.tries !== undefined && <p class="foot-note">{countText(why.tries, 'change was', 'changes were')} tried.</p>}
    </section>
  );
}

function Step({ isFine, text }: { isFine: boolean; text: string }) {
  return <li><Icon name={isFine ? 'tick' : 'cross'} tone={isFine ? 'good' : 'warn'} /><Outside text={text} /></li>;
}

function Steps({ why }: { why: Why }) {
  const { nodes, queues = [] } = why;
  const resource = (name: string): string => (name === 'nvidia.com/gpu' ? 'GPUs' : name);
  return (
    <section class="drawer-part" aria-labelledby="steps-title">
      <h3 id="steps-title">Step by step</h3>
      <ul class="steps">
        {nodes && <Step isFine={nodes.eligible > 0} text={`${nodes.eligible} of ${countText(nodes.total, 'node')} ${nodes.total === 1 ? 'is' : 'are'} eligible.`} />}
        {nodes?.failed?.map((row, i) => <Step key={`failed ${i}`} isFine={false} text={sentence(`${countText(row.nodes, 'node')}: ${row.problem ?? row.reason ?? row.filter ?? ''}`)} />)}
        {nodes?.insufficient?.map((row) => (
          <Step key={row.resource} isFine={false} text={`${countText(row.nodes, 'node')}: insufficient free ${resource(row.resource)}. A pod requests ${row.requested}; ${row.node} comes closest and lacks ${row.lacking}.`} />
        ))}
        {queues.map((queue) => (
          <Step key={queue.name} isFine={queue.allocated.gpu + queue.requested.gpu <= queue.fairShare.gpu + 1e-9}
            text={`Queue ${queue.name}: ${amountText(queue.allocated.gpu)} GPUs allocated, ${amountText(queue.requested.gpu)} requested, fair share ${amountText(queue.fairShare.gpu)}, quota ${boundText(queue.quota.gpu)}, limit ${boundText(queue.limit.gpu)}.`} />
        ))}
      </ul>
    </section>
  );
}

function Holders({ why }: { why: Why }) {
  const held = (why.holders ?? []).filter((holder) => holder.allocated.gpu > 0);
  if (!held.length) return null;
  return (
    <section class="drawer-part" aria-labelledby="holders-title">
      <h3 id="holders-title">Holds the GPUs{held.length > HOLDERS_MAX && <small>{`the first ${HOLDERS_MAX} of ${held.length}`}</small>}</h3>
      <div class="scroll">
        <table class="list">
          <thead><tr><th scope="col">Workload</th><th scope="col" class="num">GPUs</th><th scope="col">Why it stays</th></tr></thead>
          <tbody>
            {held.slice(0, HOLDERS_MAX).map((holder) => (
              <tr key={holder.workload}>
                <th scope="row"><Chip colour={colourOf(holder.queue)} /><Outside text={holder.workload || 'pods without a workload'} /></th>
                <td class="num">{amountText(holder.allocated.gpu)}</td><td class="stays">{protectionText(holder.protection)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

export function WhyAnswer({ why }: { why: Why }) {
  return <><Answer why={why} /><Remedies why={why} /><Steps why={why} /><Holders why={why} /></>;
}
