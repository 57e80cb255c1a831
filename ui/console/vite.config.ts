// SPDX-License-Identifier: Apache-2.0
import { defineConfig } from 'vitest/config';

// The program serves what is built here: pages at their paths, everything else below /page. Nothing is written into a page
// itself: scripts and styles are files, as the Content-Security-Policy asks for.
export default defineConfig({
  base: '/',
  publicDir: false,
  build: {
    assetsDir: 'page',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    reportCompressedSize: false,
    rollupOptions: { input: { index: 'index.html', setup: 'setup.html', used: 'used.html' } },
  },
  test: { dir: '../../tests/console_parts', globals: true },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
});
