/* The shapes of states: what a state is can be seen without its colour. */

const SHAPES = {
  Running: ['disc', 'good'], Pending: ['hourglass', 'warn'], Preempting: ['half', 'accent'], Suspended: ['square', 'dim'],
  Terminating: ['half', 'dim'], Completed: ['tick', 'dim'], Failed: ['cross', 'bad'],
  fine: ['disc', 'good'], soon: ['half', 'accent'], 'not now': ['hourglass', 'warn'], 'by choice': ['diamond', 'choice'], never: ['octagon', 'bad'],
};

function stateIcon(state) {
  const [shape, tone] = SHAPES[state] || ['square', 'dim'];
  return icon(shape, tone);
}
