// SPDX-License-Identifier: Apache-2.0

/* The navigation at the left, a dock on a phone, and the bar at the top. */
import { contact } from '../api/client';
import { me } from '../api/session';
import { closeDialog, openDialog, Cancel } from '../parts/dialog';
import { Icon } from '../parts/icon';
import { Outside } from '../parts/text';
import { go } from '../state/address';
import { say } from '../state/say';
import { nextTheme, theme } from '../state/theme';
import { clockText, countText } from '../text/format';
import { plain } from '../text/plain';
import { Brand, PasswordForm } from './door';
import { showKeys } from './keys';
import { isAllowed, pages, type Page } from './pages';
import { signOut } from './session';

function initials(name: string): string {
  return plain(name).split(/[@._\s-]+/).filter(Boolean).slice(0, 2).map((part) => part[0]!.toUpperCase()).join('');
}

export function askForPassword(): void {
  const done = (): void => {
    closeDialog();
    say('The password was changed. Other sessions of yours have ended.');
  };
  openDialog('Change your password', <PasswordForm done={done} more={<Cancel />} />);
}

function Menu() {
  const item = (text: string, act: () => void) => (
    <button type="button" class="item" onClick={() => { document.getElementById('menu')!.hidePopover(); act(); }}>{text}</button>
  );
  return (
    <div id="menu" class="menu" popover="auto">
      {item('Your settings', () => go('/me'))}
      {item('Change your password', askForPassword)}
      {item('Keys', showKeys)}
      {item('Sign out', () => { void signOut(); })}
    </div>
  );
}

function Who() {
  const now = me.value!;
  const isWhole = now.grants.some((grant) => grant.scopeType === 'tenant');
  const scope = isWhole ? 'in the whole tenant' : now.grants.length ? `in ${countText(now.grants.length, 'scope')}` : 'no role yet';
  return (
    <>
      <button id="who" type="button" class="who" popovertarget="menu" aria-haspopup="menu">
        <span class="face" aria-hidden="true">{initials(now.name)}</span>
        <span class="grow"><Outside text={now.name} /><small>{scope}</small></span>
        <Icon name="gear" tone="dim" />
      </button>
      <Menu />
    </>
  );
}

function entryOf(page: Page): Page | undefined {
  return page.group ? pages.find((one) => one.group === page.group && isAllowed(one)) : isAllowed(page) ? page : undefined;
}

function Entry({ page, to, isHere }: { page: Page; to: Page; isHere: boolean }) {
  return <li><a href={to.path} class="item" aria-current={isHere ? 'page' : undefined}><Icon name={page.icon!} /><span>{page.name ?? page.title}</span></a></li>;
}

const SECTIONS = [undefined, 'Build', 'Organisation'] as const;

export function Nav({ page }: { page: Page }) {
  const isWhole = me.value!.grants.some((grant) => grant.scopeType === 'tenant');
  const inSection = (section: Page['section']) => pages.filter((one) => one.icon && one.section === section && entryOf(one));
  return (
    <nav class="nav" aria-label="Pages">
      <Brand />
      <p class="scope">
        <span aria-hidden="true"><Icon name="cluster" /></span>
        <span class="grow"><b>{plain(me.value!.clusterName)}</b><small>{isWhole ? 'All departments' : 'What you may see'}</small></span>
      </p>
      <ul id="nav">
        {SECTIONS.map((section) => {
          const shown = inSection(section);
          if (!shown.length) return null;
          const entries = shown.map((one) => <Entry key={one.path} page={one} to={entryOf(one)!} isHere={one === page || Boolean(one.group && one.group === page.group)} />);
          return section ? [<li key={section} class="section" aria-hidden="true">{section}</li>, ...entries] : entries;
        })}
      </ul>
      <Who />
    </nav>
  );
}

/** When the server has answered last; in amber when it does not. */
function Live() {
  const { at, problem } = contact.value;
  const since = at ? clockText(at) : '';
  return <p id="live" class={problem ? 'live cut' : 'live'} role="status"><i aria-hidden="true" /><span>{problem ? `No answer since ${since}` : `Live ${since}`}</span></p>;
}

const THEME_NAMES = { system: 'as the system', light: 'light', dark: 'dark' };

export function Bar({ page }: { page: Page }) {
  return (
    <header class="bar">
      <p id="crumbs" class="crumbs"><span>{plain(me.value!.clusterName)}</span><span aria-hidden="true">/</span><b>{page.name ?? page.title}</b></p>
      <span class="grow" />
      <Live />
      <button id="theme" type="button" class="icon" aria-label={`Theme: ${THEME_NAMES[theme.value]}`} title="Theme (t)" onClick={nextTheme}><Icon name={theme.value} /></button>
      <button id="help" type="button" class="icon" aria-label="Keys" title="Keys (?)" onClick={showKeys}>?</button>
    </header>
  );
}
