import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** The arrows of the house: handlers → services → domain, stores, transport; nothing points back up. */
const mayNotImport = (files, groups, message) => ({
  files,
  rules: { 'no-restricted-imports': ['error', { patterns: [{ group: groups, message }] }] },
});

const sdk = ['@aws-sdk/*', '@smithy/*'];

export default tseslint.config(
  { ignores: ['cdk.out', 'node_modules', '.cache', '.svc'] },
  js.configs.recommended,
  tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['eslint.config.js'] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/consistent-type-imports': 'error',
      'no-console': 'error',
    },
  },
  { files: ['**/*.js'], extends: [tseslint.configs.disableTypeChecked] },
  mayNotImport(
    ['lambdas/domain/**'],
    [
      '../services/*',
      '../stores/*',
      '../transport/*',
      '../http/*',
      '../handlers/*',
      '../settings.ts',
      ...sdk,
    ],
    'The domain is pure: no I/O, no AWS, nothing above it.',
  ),
  mayNotImport(
    ['lambdas/stores/**'],
    ['../services/*', '../transport/*', '../http/*', '../handlers/*'],
    'Stores know the domain and DynamoDB only.',
  ),
  mayNotImport(
    ['lambdas/transport/**'],
    ['../services/*', '../stores/*', '../http/*', '../handlers/*'],
    'Transport knows the domain, SQS and the network only.',
  ),
  mayNotImport(
    ['lambdas/services/**'],
    ['../http/*', '../handlers/*', ...sdk],
    'Services reach AWS through stores and transport.',
  ),
  mayNotImport(['lambdas/http/**'], ['../handlers/*', ...sdk], 'Middlewares are below the handlers.'),
  mayNotImport(
    ['lambdas/handlers/**'],
    ['../stores/*', '../transport/*', ...sdk],
    'A handler calls a service.',
  ),
  mayNotImport(
    ['lib/**'],
    [
      '**/lambdas/handlers/*',
      '**/lambdas/services/*',
      '**/lambdas/stores/*',
      '**/lambdas/transport/*',
      '**/lambdas/domain/*',
    ],
    'Stacks share only the route table and the resource table with the code that runs.',
  ),
  mayNotImport(
    ['local/**'],
    [
      '**/lambdas/services/*',
      '**/lambdas/stores/*',
      '**/lambdas/transport/*',
      '**/lambdas/domain/*',
      '**/lib/*',
    ],
    'The local stage runs handlers; it does not reach behind them.',
  ),
  { files: ['bin/**', 'bench/**', 'test/deploy/**'], rules: { 'no-console': 'off' } },
);
