import { describe, expect, it } from 'vitest';
import { attemptJob, formatJob, parseJob, type Job } from '../../../lambdas/job/job.ts';

const attempt = { accountId: 'acct', messageId: 'msg_1', attempt: 2, queue: 'long' } as const;

describe('a job', () => {
  it.each<Job>([
    { kind: 'attempt', ...attempt },
    { kind: 'attempt', ...attempt, host: 'example.com:8080' },
    {
      kind: 'attempt',
      ...attempt,
      admittedTo: { lane: 'queue', name: 'orders', ticket: 'AbCd', sentAt: 1_000 },
    },
    { kind: 'pump', accountId: 'acct', lane: 'key', name: 'a key #1', dueAt: 1_000 },
    { kind: 'pump', accountId: 'acct', lane: 'key', name: 'a key #1', dueAt: 1_000, keepsFrom: 0 },
    { kind: 'waitTimeout', accountId: 'acct', runId: 'wfr_1', seq: 3, dueAt: 1_000 },
  ])('of the kind $kind is read as it was written', (job) => {
    expect(parseJob(formatJob(job))).toEqual(job);
  });

  it('that was sent again is read without the queue’s notes about it', () => {
    const text = JSON.stringify({ kind: 'attempt', ...attempt, returns: 3, faults: 1, sentAt: 1_000 });
    expect(parseJob(text)).toEqual({ kind: 'attempt', ...attempt });
  });

  it.each([
    'no JSON',
    '{}',
    '{"kind":"pump","accountId":""}',
    JSON.stringify(attempt),
    JSON.stringify({ ...attempt, kind: 'unknown' }),
    JSON.stringify({ kind: 'attempt', ...attempt, queue: 'dead' }),
  ])('is not %s', (text) => {
    expect(() => parseJob(text)).toThrow();
  });
});

describe('the job of an attempt', () => {
  it.each([
    [30_000, 'short'],
    [30_001, 'long'],
  ])('with %d ms for its destination to answer uses the %s queue', (timeoutMs, queue) => {
    const message = {
      accountId: 'acct',
      messageId: 'msg_1',
      url: 'https://user:pw@example.com:444/a',
      timeoutMs,
    };
    expect(attemptJob(message, 1)).toEqual({
      kind: 'attempt',
      accountId: 'acct',
      messageId: 'msg_1',
      attempt: 1,
      queue,
      host: 'example.com:444',
    });
  });
});
