// SPDX-License-Identifier: Apache-2.0
import tseslint from 'typescript-eslint';

// Imports go downwards: a folder uses those that stand before it.
const LAYERS = ['text', 'api', 'state', 'live', 'parts', 'frame', 'pages'];
const layers = LAYERS.slice(0, -1).map((name, i) => ({
  files: [`src/${name}/**`],
  rules: { 'no-restricted-imports': ['error', { patterns: [{ group: LAYERS.slice(i + 1).map((one) => `**/${one}/**`), message: 'Imports go downwards.' }] }] },
}));

export default tseslint.config(
  { ignores: ['node_modules', 'eslint.config.js'] },
  tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      eqeqeq: 'error',
      'no-eval': 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      '@typescript-eslint/explicit-module-boundary-types': 'off',
      // Handlers of events may be asynchronous: a component shows what they refuse.
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { attributes: false } }],
    },
  },
  ...layers,
);
