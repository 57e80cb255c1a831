/* The live connection. The browser connects again by itself, and tells the server what it has seen last. */

const WATCHDOG_MS = 40000;
const API = 'api/muster/v1';

let lastWord = 0;
let isCut = true;
let source = null;
let retryTimer = 0;
let retryDelay = 500;

function heard(data) {
  if (data.time) clockSkew = Date.parse(data.time) - Date.now();
  lastWord = Date.now();
  retryDelay = 500;
  isCut = false;
  showLive();
}

function showLive() {
  const live = byId('live');
  const since = lastWord ? ` since ${clockText(lastWord)}` : '';
  live.classList.toggle('cut', isCut);
  setText(live.lastElementChild, isCut ? `No connection${since}, trying again` : `Live ${clockText(lastWord)}`);
}

/* A session ends with the process that gave it: a page that stays open then says how to go on. */
async function checkSession() {
  try {
    const answer = await fetch(`${API}/state`, { method: 'HEAD' });
    if (answer.status !== 401) return;
    source.close();
    clearTimeout(retryTimer);
    const notice = byId('notice');
    notice.replaceChildren('This session has ended. Run ', add(null, 'code', {}, 'muster ui'), ' for a new link. The page shows the state of ', clockText(lastWord || Date.now()), '.');
    notice.hidden = false;
  } catch {
    // Nobody answers; the stream is tried again.
  }
}

function connect(after) {
  source = new EventSource(`${API}/stream${after ? `?after=${encodeURIComponent(after)}` : ''}`);
  let seen = after;
  const take = (apply) => (event) => {
    seen = event.lastEventId || seen;
    const data = JSON.parse(event.data);
    heard(data);
    apply(data);
    draw();
  };
  source.addEventListener('reset', take(storeReset));
  source.addEventListener('change', take(storeChange));
  source.addEventListener('beat', (event) => heard(JSON.parse(event.data)));
  source.addEventListener('error', () => {
    isCut = true;
    showLive();
    checkSession();
    // An answer that is no stream ends it for good.
    if (source.readyState === EventSource.CLOSED) reconnect(seen);
  });
  connect.watch = () => {
    if (lastWord && Date.now() - lastWord > WATCHDOG_MS) {
      isCut = true;
      showLive();
      source.close();
      lastWord = Date.now();
      reconnect(seen);
    }
  };
}

function reconnect(seen) {
  clearTimeout(retryTimer);
  retryTimer = setTimeout(() => connect(seen), retryDelay * (0.75 + Math.random() / 2));
  retryDelay = Math.min(retryDelay * 2, 30000);
}
