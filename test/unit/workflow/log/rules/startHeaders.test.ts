import { expect, it } from 'vitest';
import type { RunStart } from '../../../../../lambdas/workflow/rules/journal.ts';
import { startHeaders } from '../../../../../lambdas/workflow/log/rules/startHeaders.ts';
import { startSettings } from '../../../../support/startSettings.ts';
import { redacted } from '../../../../../lambdas/message/redaction.ts';

const start = startSettings({
  url: 'https://user:secret@flow.example/',
  features: [],
  sdkVersion: undefined,
  forwarded: [],
});
const own = [
  ['upstash-workflow-init', 'true'],
  ['upstash-workflow-runid', 'wfr_1'],
  ['upstash-workflow-url', 'https://flow.example/'],
  ['upstash-retries', '3'],
];

it('A start without settings has only the run’s headers', () => {
  expect(startHeaders('wfr_1', start)).toEqual(own);
});

it('Everything that a start set is shown, with its secrets hidden', () => {
  const full: RunStart = {
    ...start,
    prefix: 'Svc',
    features: ['LazyFetch', 'InitialBody'],
    sdkVersion: '1',
    settings: {
      ...start.settings,
      retryDelay: '1000 * retried',
      labels: ['a', 'b'],
      flowControl: { key: 'key', parallelism: 2 },
      fairKey: 'customer',
      priority: 'high',
      redaction: { body: false, headers: ['authorization'] },
    },
    failureCallback: {
      url: 'https://user:secret@failed.example/',
      method: 'POST',
      headers: [],
      labels: [],
      maxRetries: 3,
      timeoutMs: 1_000,
      delayMs: 0,
    },
    forwarded: [
      ['content-type', 'application/json'],
      ['x-tenant', 'acme'],
      ['authorization', 'Bearer secret'],
    ],
  };
  expect(startHeaders('wfr_1', full)).toEqual([
    ['svc-workflow-init', 'true'],
    ['svc-workflow-runid', 'wfr_1'],
    ['svc-workflow-url', 'https://flow.example/'],
    ['svc-workflow-sdk-version', '1'],
    ['svc-feature-set', 'LazyFetch,InitialBody'],
    ['svc-retries', '3'],
    ['svc-retry-delay', '1000 * retried'],
    ['svc-label', 'a,b'],
    ['svc-flow-control-key', 'key'],
    ['svc-flow-control-value', 'parallelism=2'],
    ['svc-fair-key', 'customer'],
    ['svc-priority', 'high'],
    ['svc-failure-callback', 'https://failed.example/'],
    ['content-type', 'application/json'],
    ['svc-forward-x-tenant', 'acme'],
    ['svc-forward-authorization', redacted('Bearer secret')],
  ]);
});
