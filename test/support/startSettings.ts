import type { CallbackSettings } from '../../lambdas/message/message.ts';
import type { RunStart } from '../../lambdas/workflow/rules/journal.ts';

export const endpoint = 'https://flow.example/orders';

/** A run's settings as the published client starts it. */
export const startSettings = (more: Partial<RunStart> = {}): RunStart => ({
  url: endpoint,
  prefix: 'Upstash',
  features: ['LazyFetch', 'InitialBody', 'WF_DetectTrigger', 'WF_TriggerOnConfig'],
  sdkVersion: '1',
  isUnknownClient: false,
  forwarded: [
    ['upstash-workflow-sdk-version', '1'],
    ['x-tenant', 'acme'],
    ['content-type', 'application/json'],
  ],
  settings: { maxRetries: 3, labels: [], timeoutMs: 30_000 },
  invokeDepth: 0,
  callerIp: '192.0.2.7',
  ...more,
});

export const callbackTo = (url: string, more: Partial<CallbackSettings> = {}): CallbackSettings => ({
  ...{ url, method: 'POST', headers: [], labels: [], maxRetries: 0, timeoutMs: 30_000, delayMs: 0 },
  ...more,
});
