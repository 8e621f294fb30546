import { expect, it } from 'vitest';
import type { RunStart } from '../../../../../lambdas/workflow/rules/journal.ts';
import { startHeaders } from '../../../../../lambdas/workflow/log/rules/startHeaders.ts';
import { callbackTo, startSettings } from '../../../../support/startSettings.ts';
import { redacted } from '../../../../../lambdas/message/redaction.ts';

const start = startSettings({
  url: 'https://user:secret@flow.example/',
  features: [],
  sdkVersion: undefined,
  forwarded: [],
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
    failureCallback: callbackTo('https://user:secret@failed.example/'),
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
