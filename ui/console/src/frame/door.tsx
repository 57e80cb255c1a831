// SPDX-License-Identifier: Apache-2.0

/* Who are you? The door before the page, the same in front of a page whose session has ended, and passwords. */
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ask, OURS, Refusal, REST } from '../api/client';
import { loadMe, me } from '../api/session';
import { Field, Form, type Values } from '../parts/form';
import { plain } from '../text/plain';
import { keepPlace } from './place';

export function Brand() {
  return <p class="brand"><span class="mark" aria-hidden="true"><i /><i /><i /></span><span>Muster</span></p>;
}

interface Provider {
  name: string;
  login: string;
}

/** Links to the identity providers, when they are known; the form below does not wait for them. */
function Providers() {
  const [providers, setProviders] = useState<Provider[]>([]);
  useEffect(() => { ask<Provider[]>('GET', `${OURS}/sso`).then(setProviders, () => { /* The password is left. */ }); }, []);
  if (!providers.length) return null;
  return (
    <div class="providers">
      {providers.map((one) => <a key={one.name} class="button" href={one.login} onClick={keepPlace}>{`Sign in with ${plain(one.name)}`}</a>)}
      <p class="or dim">or with a password</p>
    </div>
  );
}

/** A new password ends all sessions: the page signs in again with it. */
export function PasswordForm({ current, done, more }: { current?: string | undefined; done: () => void | Promise<void>; more?: ComponentChildren }) {
  const name = me.value?.name ?? '';
  const send = async (values: Values): Promise<void> => {
    const newPassword = values.raw('newPassword');
    if (newPassword !== values.raw('again')) throw new Refusal(400, 'again: the passwords differ');
    try {
      await ask('POST', `${REST}/me/password`, { body: { currentPassword: current ?? values.raw('currentPassword'), newPassword } });
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal;
      if (refusal.status === 403) throw new Refusal(403, `currentPassword: ${refusal.message}`);
      if (refusal.status === 400 && refusal.message.startsWith('a password')) throw new Refusal(400, `newPassword: ${refusal.message}`);
      throw refusal;
    }
    await ask('POST', `${OURS}/login`, { body: { username: name, password: newPassword } });
    await loadMe();
  };
  return (
    <Form save="Change the password" send={send} done={done} more={more}>
      {/* Password managers keep the new one under this name. */}
      <input class="hidden" autocomplete="username" value={name} readOnly tabIndex={-1} aria-hidden="true" />
      {current === undefined && <Field path="currentPassword" label="Current password" kind="password" complete="current-password" isRequired />}
      <Field path="newPassword" label="New password" kind="password" complete="new-password" hint="At least 12 characters." isRequired />
      <Field path="again" label="New password again" kind="password" complete="new-password" isRequired />
    </Form>
  );
}

interface DoorProps {
  title: string;
  lead: string;
  name?: string;
  done: () => void | Promise<void>;
}

/** A sign-in, and the change of a password that has to be changed. */
export function DoorForm({ title, lead, name = '', done }: DoorProps) {
  const box = useRef<HTMLDivElement>(null);
  const [password, setPassword] = useState<string | undefined>();
  const isChanging = Boolean(me.value?.mustChangePassword);
  useLayoutEffect(() => {
    [...box.current!.querySelectorAll('input')].find((one) => !one.value && !one.readOnly)?.focus();
  }, [isChanging]);
  const send = async (values: Values): Promise<void> => {
    await ask('POST', `${OURS}/login`, { body: { username: values.raw('username'), password: values.raw('password') } });
    setPassword(values.raw('password'));
    const now = await loadMe();
    if (!now.mustChangePassword) await done();
  };
  return (
    <div ref={box}>
      <Brand />
      <h1 id="door-title">{isChanging ? 'Choose a password' : title}</h1>
      <p class="lead">{isChanging ? 'Your password was generated. Choose one that only you know.' : lead}</p>
      {isChanging ? <PasswordForm key="change" current={password} done={done} /> : (
        <>
          <Providers />
          <Form key="sign-in" save="Sign in" send={send}>
            <Field path="username" label="E-mail" kind="email" complete="username" value={name} isRequired />
            <Field path="password" label="Password" kind="password" complete="current-password" isRequired />
          </Form>
        </>
      )}
    </div>
  );
}
