// SPDX-License-Identifier: Apache-2.0

/* What the parts of the settings share. */
import type { ComponentChildren } from 'preact';
import { findPage, isAllowed } from '../../frame/pages';
import { Head } from '../../parts/page';
import { Tabs } from '../../parts/tabs';
import { address } from '../../state/address';

export const TITLE = 'Settings';

const PARTS = [['/settings/sign-in', 'Sign-in'], ['/settings/workload-types', 'Workload types']] as const;

export function SettingsHead({ lead, children }: { lead: string; children?: ComponentChildren }) {
  const shown = PARTS.filter(([path]) => isAllowed(findPage(path)!));
  return (
    <>
      <Head title={TITLE} lead={lead}>{children}</Head>
      <Tabs label="Settings" tabs={shown.map(([path, text]) => ({ text, where: path, isHere: path === address.value.path }))} />
    </>
  );
}
