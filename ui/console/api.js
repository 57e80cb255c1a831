/* Requests to the console. A session that has ended is renewed in between, and the request is sent again. */

const REST = '/api/v1';
const OURS = '/api/muster/v1';

/* Who looks at the page: the answer of OURS/me, or null. */
let me = null;
/* When the server has answered last, and what went wrong since. */
const contact = { at: null, problem: '' };

class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }

  /* The member of the request that is wrong, and why; null where the message names none. */
  get field() {
    const found = /^([\w.[\]-]+): (.+)$/s.exec(this.message);
    return found && { path: found[1], why: found[2] };
  }
}

async function ask(method, path, body) {
  const headers = {};
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  if (method !== 'GET' && me) headers['X-CSRF-Token'] = me.csrfToken;
  let answer;
  try {
    answer = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), cache: 'no-store' });
  } catch {
    contact.problem = 'Muster does not answer';
    throw new Refusal(0, 'Muster does not answer.');
  }
  const text = await answer.text();
  const json = text && (answer.headers.get('Content-Type') || '').startsWith('application/json') ? JSON.parse(text) : null;
  if (answer.status >= 500 && answer.status !== 501) contact.problem = `Muster answered with status ${answer.status}`;
  else Object.assign(contact, { at: new Date(), problem: '' });
  if (answer.ok) return json;
  throw new Refusal(answer.status, (json && json.message) || `Muster answered with status ${answer.status}.`);
}

async function loadMe() {
  me = await ask('GET', `${OURS}/me`);
  return me;
}

/* Another tab may have signed in again: then the token of this one is old, and the session is not. */
async function call(method, path, body) {
  try {
    return await ask(method, path, body);
  } catch (refusal) {
    if (refusal.status === 401 && me) await signInAgain();
    else if (refusal.status === 403 && refusal.message.includes('X-CSRF-Token')) await loadMe();
    else if (refusal.status === 429 && method === 'GET') await new Promise((done) => { setTimeout(done, 1000); });
    else throw refusal;
    return ask(method, path, body);
  }
}

const get = (path) => call('GET', path);

/* All rows of a list that is answered in parts. */
async function getAll(path, member) {
  const rows = [];
  for (let offset = 0; ;) {
    const answer = await get(`${path}${path.includes('?') ? '&' : '?'}limit=500&offset=${offset}`);
    rows.push(...answer[member]);
    if (!(answer.next > offset)) return rows;
    offset = answer.next;
  }
}

/* --- what one may do --- */

/* Whether a grant reaches a place: { department, project } of identifiers, or {} for the whole tenant. */
function reaches(grant, place) {
  if (grant.scopeType === 'department') return grant.scopeId === place.department;
  if (grant.scopeType === 'project') return grant.scopeId === place.project;
  return true;
}

/* `permission` as "project:update". */
function may(permission, place = {}) {
  return me.grants.some((grant) => grant.permissions.includes(permission) && reaches(grant, place));
}

function maySomewhere(permission) {
  return me.grants.some((grant) => grant.permissions.includes(permission));
}
