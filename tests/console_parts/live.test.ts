// SPDX-License-Identifier: Apache-2.0
import { term, termOf, terms, withTerm } from '../../ui/console/src/live/filter';
import { groupNodes, Places } from '../../ui/console/src/live/gpus';
import { idleWorkloads, isMeasured } from '../../ui/console/src/live/idle';
import { cellAt, layMap, moveFrom, shortNames } from '../../ui/console/src/live/maplayout';
import { isWithin, ledgerSum, overQuota, queueColours, queueTree } from '../../ui/console/src/live/queues';
import { byOutlook } from '../../ui/console/src/live/reasons';
import type { Holder, NodeRow, QueueRow } from '../../ui/console/src/live/rows';
import { memoryText, reasonTitle, sentence } from '../../ui/console/src/live/text';

function queue(name: string, more: Partial<QueueRow> = {}): QueueRow {
  return { id: name, name, displayName: name, depth: 0, isLeaf: true, priority: 100, quota: 0, limit: -1, overQuotaWeight: 1, fairShare: 0, allocated: 0, borrowed: 0, lent: 0, pending: 0, ...more };
}

function node(name: string, holders: Partial<Holder>[] = [], more: Partial<NodeRow> = {}): NodeRow {
  return {
    id: name, name, state: 'Ready', gpuModel: 'NVIDIA-H100-80GB-HBM3', gpuMemory: '80Gi', isReady: true, isCordoned: false, gpus: 8, gpusAllocated: 0, cpus: '96', memory: '1Ti', pods: 0, created: '',
    holders: holders.map((holder, i) => ({ pod: `p${i}`, namespace: 'a', workload: `a/Job/w${i}`, queue: 'q', gpus: 1, groups: [], ...holder })), ...more,
  };
}

describe('the filter', () => {
  test('blanks within quotes part nothing', () => expect(terms('queue:"two words" state:Pending x')).toEqual(['queue:"two words"', 'state:Pending', 'x']));
  test('a value with blanks gets quotes, and none of its own', () => expect(term('user', 'a "b" c')).toBe('user:"a b c"'));
  test('a term takes the place of one of the same column', () => expect(withTerm('queue:a state:Pending train', 'state', 'Running')).toBe('queue:a train state:Running'));
  test('an empty value takes the term away', () => expect(withTerm('queue:a state:Pending', 'state', '')).toBe('queue:a'));
  test('what was written is read again', () => expect(termOf(withTerm('', 'queue', 'two words'), 'queue')).toBe('two words'));
});

describe('the tree of queues', () => {
  const rows = [queue('vision', { parent: 'research' }), queue('research', { isLeaf: false, quota: 8, allocated: 9, borrowed: 1 }), queue('audio', { parent: 'research', quota: 2, borrowed: 3, allocated: 5 }), queue('ops', { quota: -1 })];
  test('children stand below their parents, by name', () => expect(queueTree(rows).map(({ queue: one, depth }) => `${depth}${one.name}`)).toEqual(['0ops', '0research', '1audio', '1vision']));
  test('what is folded is left out', () => expect(queueTree(rows, new Set(['research'])).map((line) => line.queue.name)).toEqual(['ops', 'research']));
  test('a queue that is its own parent ends nothing', () => expect(queueTree([queue('a', { parent: 'a' })])).toHaveLength(1));
  test('sums count the top alone, and an unlimited quota as nothing', () => expect(ledgerSum(rows)).toMatchObject({ quota: 8, allocated: 9, borrowed: 1 }));
  test('the largest borrower comes first, and parents are no borrowers', () => expect(overQuota([...rows, queue('b', { quota: 1, borrowed: 7 })]).map((one) => one.name)).toEqual(['b', 'audio']));
  test('the hue is that of the top, the lightness that of the project', () => {
    const colours = queueColours(rows);
    expect([colours.get('ops'), colours.get('research'), colours.get('audio'), colours.get('vision')]).toEqual(['--q0', '--q1', '--q1', '--q1l']);
  });
  test('a circle of parents ends', () => expect(isWithin(new Map([['a', queue('a', { parent: 'b' })], ['b', queue('b', { parent: 'a' })]]), 'a', 'c')).toBe(false));
});

describe('GPUs', () => {
  test('pods of one group share a cell', () => {
    const cells = new Places().cells(node('n', [{ gpus: 0.5, groups: ['g'] }, { gpus: 0.25, groups: ['g'] }, { gpus: 2 }]));
    expect(cells.map((cell) => cell.parts.length)).toEqual([2, 1, 1, 0, 0, 0, 0, 0]);
  });
  test('a holder keeps its cell when another one leaves', () => {
    const places = new Places();
    places.cells(node('n', [{ pod: 'a', gpus: 2 }, { pod: 'b', gpus: 1 }]));
    expect(places.cells(node('n', [{ pod: 'b', gpus: 1 }])).map((cell) => cell.parts[0]?.holder.pod)).toEqual([undefined, undefined, 'b', undefined, undefined, undefined, undefined, undefined]);
  });
  test('a count of GPUs from outside is bounded', () => expect(new Places().cells(node('n', [{ gpus: 1e9 }])).length).toBeLessThan(2000));
  test('idle is what was measured as zero, by workload', () => {
    const nodes = [node('n', [{ busy: 0, gpus: 2 }, { busy: 0.5 }, {}]), node('m', [{ busy: 0, gpus: 1 }])];
    expect(isMeasured(nodes)).toBe(true);
    expect(idleWorkloads(nodes)).toEqual([{ workload: 'a/Job/w0', queue: 'q', gpus: 3, nodes: ['n', 'm'] }]);
    expect(isMeasured([node('n', [{}])])).toBe(false);
  });
});

describe('the map', () => {
  const many = (count: number): NodeRow[] => Array.from({ length: count }, (_, i) => node(`gpu-${String(i).padStart(5, '0')}`));
  const lay = (count: number, width = 900, height = 500) => layMap(groupNodes(many(count), 'rack'), new Places(), width, height);
  test('names lose what all have alike', () => expect(shortNames(['h100-b1-01', 'h100-b1-02'])).toEqual(['1', '2']));
  test('a name alone stays as it is', () => expect(shortNames(['gpu-1'])).toEqual(['gpu-1']));
  test.each([1, 10, 100, 1000, 12500])('%i nodes fit into 900 by 500 and do not overlap', (count: number) => {
    const layout = lay(count);
    expect(layout.height).toBeLessThanOrEqual(540);
    const places = new Set(layout.cells.map((cell) => `${cell.x} ${cell.y}`));
    expect(places.size).toBe(layout.cells.length);
    expect(Math.max(...layout.cells.map((cell) => cell.x + layout.sizes.cell))).toBeLessThanOrEqual(900);
    expect(layout.cells.length).toBe(layout.sizes.isByNode ? count : count * 8);
  });
  test('each cell is found at its middle', () => {
    const layout = lay(40);
    layout.cells.forEach((cell, i) => expect(cellAt(layout, cell.x + layout.sizes.cell / 2, cell.y + layout.sizes.tall / 2)).toBe(i));
  });
  test('arrows reach every cell of a row, and stay at its end', () => {
    const layout = lay(2);
    let at = 0;
    for (let i = 0; i < 7; i++) at = moveFrom(layout, at, 1, 0);
    expect(layout.cells[at]!.gpu!.index).toBe(7);
    expect(layout.cells[moveFrom(layout, at, 0, 1)]!.node.name).toBe('gpu-00001');
    expect(moveFrom(layout, 0, 0, -1)).toBe(0);
  });
});

describe('texts', () => {
  test('reasons are in the order of what is to be expected', () => expect(byOutlook([{ value: 'too_large', count: 9, gpus: 1 }, { value: 'no_room', count: 1, gpus: 1 }, { value: 'promised', count: 1, gpus: 1 }]).map((one) => one.value)).toEqual(['promised', 'no_room', 'too_large']));
  test('a code of a newer server is shown as it is', () => expect(reasonTitle('some_new_code')).toBe('Some new code.'));
  test('a sentence has one full stop', () => expect(sentence('no room..')).toBe('No room.'));
  test('memory is in units that people use', () => expect(['1056Gi', '81559Mi', '1Ti', '1048576', 'x'].map(memoryText)).toEqual(['1.031 TiB', '79.65 GiB', '1 TiB', '1 MiB', 'x']));
});
