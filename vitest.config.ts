import { defineConfig } from 'vitest/config';

const stage = ['./test/support/sharedService.ts'];

export default defineConfig({
  test: {
    // Tests wait much more than they compute: even two cores do well with four files at once.
    maxWorkers: 4,
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          env: { POWERTOOLS_LOG_LEVEL: 'SILENT' },
        },
      },
      {
        test: {
          name: 'infra',
          include: ['test/infra/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts', 'test/clients/**/*.test.ts'],
          globalSetup: stage,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
