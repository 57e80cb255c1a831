// SPDX-License-Identifier: Apache-2.0
import { render } from 'preact';
import './style/console.css';
import { App } from './frame/app';
import { onKey } from './frame/keys';
import { startSession } from './frame/session';
import { startAddress } from './state/address';
import { startReading } from './state/read';
import { startTheme } from './state/theme';

startTheme();
startAddress();
startReading();
document.addEventListener('keydown', onKey);
render(<App />, document.getElementById('root')!);
void startSession();
