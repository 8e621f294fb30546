import { defineConfig } from 'vitest/config';
import { limitForTestsMs } from './test/support/limits.ts';
import { LongestFirst } from './test/support/longestFirst.ts';

const bundledStage = './test/support/bundledStage.ts';
const synthFolder = './test/support/synthFolder.ts';
const limits = { testTimeout: limitForTestsMs, hookTimeout: limitForTestsMs };
/** The CDK's own validation takes most of a synthesis and only warns. cfn-lint and cdk-nag check the templates here. */
const env = { CDK_VALIDATION: 'false' };

const unit = {
  ...limits,
  // A thread starts faster than a process. Once the SDK is warm in a thread, many files profit.
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
  // Files share what a process has imported and warmed up, but each has a separate account.
  isolate: false,
  setupFiles: ['./test/support/ownAccount.ts'],
};

/**
 * Campaigns try one thing many times: a kill at each call, a loss of power at each length, days of growth. `npm test` skips
 * them.
 */
const campaigns = ['test/{unit,e2e}/**/*.campaign.test.ts'];

export default defineConfig({
  test: {
    // Tests wait as much as they compute, so four files at once are good even for two cores.
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
          // Importing the CDK and synthesizing a template take seconds. A process does both once for all its files.
          isolate: false,
        },
      },
      { test: { ...limits, name: 'package', include: ['test/package/**/*.test.ts'] } },
      {
        test: {
          ...limits,
          // The console in a real browser. For deployments, `e2e` checks what AWS does with the console's files instead.
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
