import { describe, expect, it } from 'vitest';
import { messageOf } from '../../../support/messageOf.ts';
import * as z from 'zod/mini';
import type { Header } from '../../../../lambdas/shared/headers.ts';
import { wrongDestination } from '../../../../lambdas/workflow/delivery/endpointAnswer.ts';
import type { Entry } from '../../../../lambdas/workflow/rules/entry.ts';
import {
  failureBody,
  failureFunctionStateAfter,
  failureSource,
} from '../../../../lambdas/workflow/failure/failureBody.ts';
import { listBody } from '../../../../lambdas/workflow/runs/listBody.ts';

const message = messageOf({
  prefix: 'Upstash',
  url: 'https://user:secret@proxy.example/flow',
  headers: [['x-tenant', 'acme']],
  maxRetries: 3,
  createdAt: 1,
  notBefore: 2,
});
const run = { runId: 'wfr_1', createdAt: 1_790_000_000_000, url: 'https://endpoint.example/flow' };
const bodyOf = (source: Uint8Array, answer: string, maxBytes: number) => {
  const response = { status: 500, headers: [['x-a', 'b']] as const, body: Buffer.from(answer) };
  const bytes = failureBody(run, { message, body: source, response, retried: 3, dlqId: 'dlq_1' }, maxBytes);
  const read: unknown = JSON.parse(Buffer.from(bytes).toString());
  return { bytes, read };
};

describe('the body of a failure request', () => {
  it('is a callback’s body with the run and its URL', () => {
    expect(bodyOf(Buffer.from('payload'), 'no', 10_000).read).toEqual({
      status: 500,
      header: { 'X-A': ['b'] },
      body: Buffer.from('no').toString('base64'),
      retried: 3,
      maxRetries: 3,
      dlqId: 'dlq_1',
      sourceMessageId: 'msg_1',
      url: run.url,
      method: 'POST',
      sourceHeader: { 'X-Tenant': 'acme' },
      sourceBody: Buffer.from('payload').toString('base64'),
      notBefore: 2,
      createdAt: 1,
      callerIP: '192.0.2.1',
      workflowRunId: 'wfr_1',
      workflowCreatedAt: run.createdAt,
    });
  });

  const answerIn = (read: unknown): string =>
    Buffer.from(z.object({ body: z.string() }).parse(read).body, 'base64').toString();

  it('keeps the whole source, and the fields of an answer that is too large', () => {
    const source = Buffer.alloc(2_000, 's');
    const answer = { error: 'Error', message: 'é"'.repeat(200_000), stack: 'at '.repeat(200_000), code: 7 };
    for (const maxBytes of [200_000, 100]) {
      const { bytes, read } = bodyOf(source, JSON.stringify(answer), maxBytes);
      expect(bytes.length).toBeLessThanOrEqual(Math.max(maxBytes, 100_000));
      expect(read).toMatchObject({ sourceBody: source.toString('base64'), bodyIsCut: true });
      const told: unknown = JSON.parse(answerIn(read));
      expect(told).toEqual({
        error: 'Error',
        message: expect.stringMatching(/^(é"){5000,}é? … \(cut: the whole has 600000 bytes\)$/) as unknown,
        stack: expect.stringMatching(/^(at ){5000,}.* … \(cut: the whole has 600000 bytes\)$/) as unknown,
        code: 7,
      });
    }
  });

  it('keeps the fields of an answer that was not read to its end', () => {
    const whole = JSON.stringify({ error: 'Error', message: 'no', stack: 'at €'.repeat(1_000) });
    const cut = Buffer.from(whole).subarray(0, 1_001);
    const response = { status: 500, headers: [], body: cut, isCut: true } as const;
    const details = { message, body: new Uint8Array(), response, retried: 3 };
    const read: unknown = JSON.parse(Buffer.from(failureBody(run, details, 100_000)).toString());
    expect(read).toMatchObject({ bodyIsCut: true });
    expect(JSON.parse(answerIn(read))).toEqual({
      error: 'Error',
      message: 'no',
      stack: expect.stringMatching(/^(at €){100,}.* … \(cut: the end is missing\)$/) as unknown,
    });
  });

  it('has the payload as its source, and the list for older clients', () => {
    const entries: readonly Entry[] = [
      { messageId: 'msg_1', body: Buffer.from('payload') },
      { messageId: 'msg_2', body: Buffer.from('{}') },
    ];
    expect(failureSource(entries, new Set(['InitialBody']))).toEqual(Buffer.from('payload'));
    expect(failureSource(entries, new Set())).toEqual(listBody(entries));
  });
});

describe('a failure function', () => {
  const notFound: Header = ['upstash-workflow-failure-callback-notfound', 'true'];
  it.each([
    ['DELIVERED', [], 'CALLBACK_SUCCESS'],
    ['DELIVERED', [notFound], undefined],
    ['RETRY', [], 'CALLBACK_INPROGRESS'],
    ['FAILED', [], 'CALLBACK_FAIL'],
    ['FAILED', [notFound], 'CALLBACK_FAIL'],
    ['CANCELED', [], 'CALLBACK_CANCELED'],
  ] as const)('is, after an attempt that ends as %s, with %j, in the state %s', (state, headers, after) => {
    expect(failureFunctionStateAfter(state, 'Upstash', headers)).toBe(after);
  });
});

describe('the answer to the first delivery', () => {
  const detecting = {
    prefix: 'Upstash',
    features: new Set(['WF_DetectTrigger'] as const),
    isUnknownClient: false,
  };
  const unknown = { prefix: 'Upstash', features: new Set([]), isUnknownClient: true };
  const old: Header = ['upstash-workflow-sdk-version', '1'];
  const current: Header = ['upstash-workflow-sdk', 'v1.3.2'];
  it.each([
    ['no workflow', detecting, 200, [], 'detected a non-workflow destination'],
    ['a workflow', detecting, 200, [old], undefined],
    ['a failure, which is tried again', detecting, 500, [], undefined],
    [
      'anything, to a client that does not want to know',
      { ...detecting, features: new Set([]) },
      200,
      [],
      undefined,
    ],
    ['no workflow, to nobody’s start', unknown, 200, [], 'detected a non-workflow destination'],
    ['an old workflow', unknown, 200, [old], 'only usable with sdk versions after v1.0.0'],
    ['a current workflow', unknown, 200, [old, current], undefined],
  ] as const)('reports %s', (_name, asked, status, headers, text) => {
    const problem = wrongDestination(asked, { status, headers });
    if (text === undefined) expect(problem).toBeUndefined();
    else expect(problem).toContain(text);
  });
});
