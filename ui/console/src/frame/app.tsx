// SPDX-License-Identifier: Apache-2.0

/* The frame around all pages: the navigation, the bar, and what stands before the page. */
import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { Dialog } from '../parts/dialog';
import { Head } from '../parts/page';
import { Forbidden, Shapes } from '../parts/states';
import { Toast } from '../parts/toast';
import { address, go } from '../state/address';
import { refresh } from '../state/read';
import { contact } from '../api/client';
import { me } from '../api/session';
import { clockText } from '../text/format';
import { Bar, Nav } from './chrome';
import { DoorForm } from './door';
import { Failing } from './failing';
import { findPage, firstPage, isAllowed, type Page } from './pages';
import { again, door, enter, renewed } from './session';

/** The pages that were loaded, by path. */
const loaded = signal<ReadonlyMap<string, ComponentType>>(new Map());

function useView(page: Page): ComponentType | null {
  const view = loaded.value.get(page.path) ?? null;
  useEffect(() => {
    if (view) return;
    void page.load().then((module) => { loaded.value = new Map([...loaded.value, [page.path, module.default]]); });
  }, [page, view]);
  return view;
}

function Content({ page }: { page: Page }) {
  const View = useView(page);
  const isSeen = isAllowed(page);
  const title = page.name ?? page.title;
  useLayoutEffect(() => {
    document.title = `${page.title} · Muster`;
    document.documentElement.dataset.ready = isSeen ? 'loading' : address.value.path;
  }, [page, isSeen]);
  if (!isSeen) return <><Head title={title} /><Forbidden what={`You have no role that allows ${page.title.toLowerCase()} to be read.`} /></>;
  if (!View) return <><Head title={title} /><Shapes /></>;
  return <Failing key={page.path}><View /></Failing>;
}

/** What one sees is old, and how old it is. */
function Notice() {
  const { at, problem } = contact.value;
  if (!problem || !at) return null;
  return (
    <div id="notice" class="notice" role="alert">
      {`${problem}. The page shows the state of ${clockText(at)}. `}
      <button type="button" class="more" onClick={() => { void refresh(); }}>Try now</button>
    </div>
  );
}

function Again() {
  const ref = useRef<HTMLDialogElement>(null);
  const now = again.value;
  useLayoutEffect(() => {
    if (now && !ref.current!.open) ref.current!.showModal();
    else if (!now && ref.current!.open) ref.current!.close();
  }, [now]);
  return (
    <dialog id="again" class="again" aria-labelledby="door-title" ref={ref} onCancel={(event) => event.preventDefault()}>
      {now && <DoorForm title="Sign in again" lead="Your session has ended. The page stays as it is." name={now.name} done={renewed} />}
    </dialog>
  );
}

function Door({ lead }: { lead: string }) {
  useLayoutEffect(() => {
    document.title = 'Sign in · Muster';
    document.documentElement.dataset.ready = 'door';
  }, []);
  return <div id="door" class="door"><main id="door-box" class="panel"><DoorForm title="Sign in to Muster" lead={lead} done={enter} /></main></div>;
}

export function App() {
  const { path } = address.value;
  const isIn = me.value !== null && !door.value;
  const page = findPage(path);
  // Whoever may not see the overview starts at the first page that they may see.
  const isElsewhere = !page || (path === '/' && !isAllowed(page) && firstPage(path) !== page);
  useLayoutEffect(() => { if (isIn && isElsewhere) go(firstPage(path).path, true); }, [isIn, isElsewhere, path]);
  if (door.value) return <Door lead={door.value.lead} />;
  if (!me.value || !page) return null;
  return (
    <>
      <a class="skip" href="#main">Skip to content</a>
      <div id="app" class="app">
        <Nav page={page} />
        <div class="page">
          <Bar page={page} />
          <Notice />
          <main id="main" tabIndex={-1}><Content page={page} /></main>
        </div>
      </div>
      <Dialog />
      <Again />
      <Toast />
    </>
  );
}
