import { defineConfig } from 'vitest/config';
import { limitForTestsMs } from './test/support/limits.ts';
import { LongestFirst } from './test/support/longestFirst.ts';

const bundledStage = './test/support/bundledStage.ts';
const synthFolder = './test/support/synthFolder.ts';
const limits = { testTimeout: limitForTestsMs, hookTimeout: limitForTestsMs };
/** The CDK's own validation takes most of a synthesis, and only warns. cfn-lint and cdk-nag judge the templates here. */
const env = { CDK_VALIDATION: 'false' };

const unit = {
  ...limits,
  // A thread starts sooner than a process, and one in which the SDK has become fast is good for many files.
  pool: 'threads' as const,
  isolate: false,
  setupFiles: ['./test/support/startAfresh.ts', './test/support/generated.ts'],
  globalSetup: [bundledStage],
  // `POWERTOOLS_LOG_LEVEL=DEBUG` shows what the service logs.
  env: { ...env, POWERTOOLS_LOG_LEVEL: process.env['POWERTOOLS_LOG_LEVEL'] ?? 'SILENT' },
};

const e2e = {
  ...limits,
  env,
  globalSetup: [bundledStage, './test/support/sharedService.ts', synthFolder],
  // What a process has imported and warmed up serves the next file too; each has an account of its own all the same.
  isolate: false,
  setupFiles: ['./test/support/ownAccount.ts'],
};

/** Campaigns try one thing many times: a death at each call, a lost power at each length, days of growth. `npm test` leaves them out. */
const campaigns = ['test/{unit,e2e}/**/*.campaign.test.ts'];

export default defineConfig({
  test: {
    // Tests wait as much as they compute: even two cores do well with four files at once, of whichever project.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' },
    projects: [
      { test: { ...unit, name: 'unit', include: ['test/unit/**/*.test.ts'], exclude: campaigns } },
      { test: { ...e2e, name: 'e2e', include: ['test/{e2e,clients}/**/*.test.ts'], exclude: campaigns } },
      { test: { ...unit, name: 'unit campaigns', include: ['test/unit/**/*.campaign.test.ts'] } },
      { test: { ...e2e, name: 'e2e campaigns', include: ['test/e2e/**/*.campaign.test.ts'] } },
      {
        test: {
          ...limits,
          name: 'infra',
          include: ['test/infra/**/*.test.ts'],
          env,
          globalSetup: [synthFolder],
          // The CDK takes seconds to import, and a template to synthesize: a process does both once, for all its files.
          isolate: false,
        },
      },
      { test: { ...limits, name: 'package', include: ['test/package/**/*.test.ts'] } },
      {
        test: {
          ...limits,
          // The console in a real browser. Not part of the deployed check: what AWS does with its files, `e2e` looks at.
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          globalSetup: [bundledStage, './test/support/sharedService.ts', './test/support/chromium.ts'],
          // One browser for all files of a process.
          isolate: false,
          setupFiles: ['./test/support/ownAccount.ts'],
        },
      },
    ],
  },
});
