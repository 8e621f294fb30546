import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { LastLines } from './test/support/lastLines.ts';
import { limitForTestsMs } from './test/support/limits.ts';
import { LongestFirst } from './test/support/longestFirst.ts';

const bundledStage = './test/support/bundledStage.ts';
const synthFolder = './test/support/synthFolder.ts';
const inlineCode = resolve(import.meta.dirname, 'test/infra/inlineCode.ts');
const limits = { testTimeout: limitForTestsMs, hookTimeout: limitForTestsMs };
/** The CDK's own validation takes most of a synthesis and only warns. cfn-lint and cdk-nag check the templates here. */
const env = { CDK_VALIDATION: 'false', SVC_DRAW: process.env['SVC_DRAW'] ?? drawOfCommit() };

/** A number that each commit has another of; an unpacked archive has none. A failed test says it. */
function drawOfCommit(): string {
  const { status, stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' });
  return status === 0 ? String(Number.parseInt(stdout.slice(0, 6), 16)) : '0';
}

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

const infra = {
  // Bundling all functions takes half a minute of CPU.
  resolve: { alias: [{ find: /^\.\/functions\/code\.ts$/, replacement: inlineCode }] },
  test: {
    ...limits,
    env,
    globalSetup: [synthFolder],
    // Importing the CDK and synthesizing a template take seconds. A process does both once for all its files.
    isolate: false,
  },
};

/**
 * Campaigns try one thing many times: a kill at each call, a loss of power at each length, days of growth, all rules of
 * cfn-lint. `npm test` skips them.
 */
const campaigns = ['test/{unit,infra,e2e}/**/*.campaign.test.ts'];

export default defineConfig({
  test: {
    // Tests wait as much as they compute, so three files at once occupy two cores. Another process would import everything again.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // One line for each file, without one for each slow test.
    reporters: ['default', new LastLines(env.SVC_DRAW)],
    slowTestThreshold: Infinity,
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' },
    projects: [
      { test: { ...unit, name: 'unit', include: ['test/unit/**/*.test.ts'], exclude: campaigns } },
      { test: { ...e2e, name: 'e2e', include: ['test/{e2e,clients}/**/*.test.ts'], exclude: campaigns } },
      { test: { ...unit, name: 'unit campaigns', include: ['test/unit/**/*.campaign.test.ts'] } },
      { test: { ...e2e, name: 'e2e campaigns', include: ['test/e2e/**/*.campaign.test.ts'] } },
      {
        ...infra,
        test: { ...infra.test, name: 'infra', include: ['test/infra/**/*.test.ts'], exclude: campaigns },
      },
      {
        ...infra,
        test: { ...infra.test, name: 'infra campaigns', include: ['test/infra/**/*.campaign.test.ts'] },
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
