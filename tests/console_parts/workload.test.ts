// SPDX-License-Identifier: Apache-2.0
import { phasesOf, type Record } from '../../ui/console/src/pages/workloads/phases';
import { shellWord } from '../../ui/console/src/text/shell';

function told(at: string, phase?: string, phaseMessage = ''): Record {
  return { meta: { creationTimestamp: at, type: phase ? 'PhaseUpdate' : 'Event' }, spec: phase ? { phaseUpdate: { phase, phaseMessage } } : {} };
}

test('phases are told with their ends, the newest first; a phase with other words is the same one', () => {
  const phases = phasesOf([
    told('2026-01-01T00:00:30Z', 'Running'), told('2026-01-01T00:00:20Z'), told('2026-01-01T00:00:10Z', 'Pending', 'no room'), told('2026-01-01T00:00:05Z', 'Pending', 'new'), told('2026-01-01T00:00:00Z', 'Creating'),
  ]);
  expect(phases.map((phase) => [phase.name, phase.since, phase.until])).toEqual([
    ['Running', '2026-01-01T00:00:30Z', undefined], ['Pending', '2026-01-01T00:00:05Z', '2026-01-01T00:00:30Z'], ['Creating', '2026-01-01T00:00:00Z', '2026-01-01T00:00:05Z'],
  ]);
  expect(phases[1]!.message).toBe('no room');
  expect(phasesOf([])).toEqual([]);
});

test('a name is one word of a shell', () => {
  expect([shellWord('team-a/train.py'), shellWord('two words'), shellWord("it's $HOME"), shellWord('')]).toEqual(['team-a/train.py', "'two words'", "'it'\\''s $HOME'", "''"]);
});
