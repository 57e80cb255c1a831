/* Icons, 16 x 16, and the shapes of states: what a state is can be seen without its colour. */

const SHAPES = {
  Running: ['disc', 'good'], Pending: ['hourglass', 'warn'], Preempting: ['half', 'accent'], Suspended: ['square', 'dim'],
  Terminating: ['half', 'dim'], Completed: ['tick', 'dim'], Failed: ['cross', 'bad'],
  fine: ['disc', 'good'], soon: ['half', 'accent'], 'not now': ['hourglass', 'warn'], 'by choice': ['diamond', 'choice'], never: ['octagon', 'bad'],
};

const PATHS = {
  disc: 'M8 3.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9z',
  half: 'M8 2.7a5.3 5.3 0 1 0 0 10.6A5.3 5.3 0 0 0 8 2.7zM8 2.7v10.6M8 5h3.6M8 8h5M8 11h3.6',
  hourglass: 'M4.2 2.5h7.6M4.2 13.5h7.6M5 2.5v2.3c0 1.6 3 2.4 3 3.2s-3 1.6-3 3.2v2.3M11 2.5v2.3c0 1.6-3 2.4-3 3.2s3 1.6 3 3.2v2.3',
  square: 'M4 4h8v8H4z',
  tick: 'M3.4 8.4 6.6 11.6 12.6 4.8',
  cross: 'M4.2 4.2l7.6 7.6M11.8 4.2l-7.6 7.6',
  diamond: 'M8 2.2 13.8 8 8 13.8 2.2 8z',
  octagon: 'M5.6 2.4h4.8l3.2 3.2v4.8l-3.2 3.2H5.6L2.4 10.4V5.6zM5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4',
  dark: 'M12.9 9.6A5.4 5.4 0 0 1 6.4 3.1 5.4 5.4 0 1 0 12.9 9.6z',
  light: 'M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6zM8 1.6v1.2M8 13.2v1.2M1.6 8h1.2M13.2 8h1.2M3.5 3.5l.8.8M11.7 11.7l.8.8M12.5 3.5l-.8.8M4.3 11.7l-.8.8',
  system: 'M2.5 3.5h11v7h-11zM6 13h4M8 10.5V13',
};

function icon(name, tone = '') {
  const path = add(null, 'svg:path', { d: PATHS[name], fill: name === 'disc' ? 'currentColor' : 'none' });
  return add(null, 'svg:svg', { class: `i ${tone}`, viewBox: '0 0 16 16', 'aria-hidden': 'true' }, path);
}

function stateIcon(state) {
  const [shape, tone] = SHAPES[state] || ['square', 'dim'];
  return icon(shape, tone);
}
