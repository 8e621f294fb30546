import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import type { ErrorCode } from '../../lambdas/error/errorCodes.ts';
import { makeAccount, publishAs } from '../support/accounts.ts';
import { api, ok } from '../support/api.ts';
import { call, publish, refusalOf, service, type Answer } from '../support/publish.ts';

/** Gets nothing, because accepted messages are delayed longer than a test. */
const somewhere = 'https://example.com/hook';

const batchOf = (length: number) =>
  Array.from({ length }, () => ({ destination: somewhere, headers: { 'Svc-Delay': '1h' } }));

const nobody = '00000000-0000-4000-8000-000000000000';

type Refused = readonly [status: number, code: ErrorCode, what: string, ask: () => Promise<Answer>];

/** Refusals that `openapi.test.ts` does not compare with the description. */
const refusals: readonly Refused[] = [
  [400, 'too_many_items', 'too many messages', () => api('POST', '/v2/batch', { body: batchOf(1_001) })],
  [
    400,
    'cron_invalid',
    'a cron expression with a wrong minute',
    () => api('POST', `/v2/schedules/${somewhere}`, { headers: { 'Svc-Cron': '61 * * * *' } }),
  ],
  [
    400,
    'retry_delay_invalid',
    'an unknown function',
    () => publish(somewhere, { headers: { 'Svc-Retry-Delay': 'eval(1)' } }),
  ],
  [400, 'workflow_request_invalid', 'a run at a URL group', () => api('POST', '/v2/trigger/a-group')],
  [
    400,
    'run_ended',
    'a step of a run that is not there',
    () => publish(somewhere, { headers: { 'Svc-Workflow-Init': 'false', 'Svc-Workflow-RunId': 'wfr_x' } }),
  ],
  [
    401,
    'account_inactive',
    'an account that was suspended',
    async () => publishAs(await makeAccount({ active: false }), somewhere),
  ],
  [404, 'dead_letter_not_found', 'a failed run', () => api('POST', '/v2/workflows/dlq/resume/dlq_0')],
  [404, 'webhook_not_found', 'a webhook', () => call(`/v2/workflows/hooks/${nobody}/run/event`)],
  [404, 'file_not_found', 'a file of the console', () => call('/console/app-0000000000.js')],
  [405, 'method_not_allowed', 'a method without a route', () => api('DELETE', '/v2/logs')],
  [412, 'submission_refused', 'a long event', () => api('POST', `/v2/notify/${'e'.repeat(257)}`)],
  // The emulator’s gateway has no limits.
  ...(service.target === 'local'
    ? ([
        [413, 'body_too_large', 'a large body', () => publish(somewhere, { body: 'x'.repeat(6_000_000) })],
        [
          431,
          'head_too_large',
          'large headers',
          () => publish(somewhere, { headers: { 'X-Large': 'x'.repeat(10_240) } }),
        ],
      ] as const)
    : []),
];

describe('a refusal has a code', () => {
  it.each(refusals)('%i %s: %s', async (status, code, _, ask) => {
    const answer = await ask();
    expect([answer.status, refusalOf(answer)]).toEqual([
      status,
      { error: expect.stringMatching(/./) as string, code },
    ]);
  });

  it('and a link to the page that explains it, which needs no token', async () => {
    const unknown = await api('GET', '/v2/messages/msg_0');
    const [, link = ''] = /^<(.+)>; rel="help"$/.exec(unknown.headers.get('link') ?? '') ?? [];
    const { pathname, hash } = new URL(link, service.url);
    expect(hash).toBe('#message_not_found');
    // The emulator is behind an address without the stage's path.
    const shown = await fetch(`${service.url}${pathname.slice(pathname.indexOf('/console/'))}`);
    expect([shown.status, shown.headers.get('content-type'), await shown.text()]).toEqual([
      200,
      'text/html; charset=utf-8',
      expect.stringContaining('<h3 id="message_not_found">'),
    ]);
  });

  it('in a batch, too, if the month’s budget does not suffice for all messages', async () => {
    const entry = z.array(z.object({ code: z.optional(z.string()), status: z.optional(z.int()) }));
    const { token } = await makeAccount({ budget: 1 });
    const answers = entry.parse(await ok(api('POST', '/v2/batch', { token, body: batchOf(50) })));
    expect(answers.at(-1)).toEqual({ code: 'budget_reached', status: 412 });
  });
});
