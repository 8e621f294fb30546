import { describe, expect, it } from 'vitest';
import { redacted } from '../../../../../lambdas/message/redaction.ts';
import { cutMessages, cuts, cutter } from '../../../../../lambdas/workflow/log/rules/cutting.ts';
import type { RunMessage } from '../../../../../lambdas/workflow/log/rules/runMessage.ts';
import {
  beginningOfText,
  bothRedactions,
  longestCutText,
  ShownTexts,
} from '../../../../../lambdas/workflow/log/rules/shownTexts.ts';

const hidesAll = { body: true, headers: 'all' } as const;

describe('the texts of a log', () => {
  it('are shown whole while they fit into an answer, and then shortened more and more', () => {
    const texts = new ShownTexts(Infinity, 10_000, 'kept');
    const long = 'x'.repeat(9_000);
    expect([texts.text(long), texts.text(long)]).toEqual([long, long]);
    expect(texts.text(long)).toHaveLength(longestCutText);
    expect(texts.headers([['a', 'b']])).toEqual([['a', 'b']]);
    for (let count = 0; count < 20; count += 1) texts.text(long);
    expect(texts.text(long)).toBe('');
    const headers = [
      ['a', 'b'],
      ['kept', 'name'],
    ] as const;
    expect(texts.headers(headers)).toEqual([['kept', 'name']]);
    const withHeaders = new ShownTexts(Infinity, 5_000, 'kept');
    withHeaders.headers([['a', long]]);
    expect(withHeaders.text(long)).toHaveLength(longestCutText);
  });

  it('are hashes of the whole text if they are redacted, even if they are shortened', () => {
    const texts = new ShownTexts(3, 10_000, 'kept');
    expect(texts.text('secret', hidesAll)).toBe(redacted('secret'));
    expect(texts.text('', hidesAll)).toBe('');
    expect(texts.headers([['kept', 'name']], hidesAll)).toEqual([['kept', 'name']]);
    expect(texts.headers([['a', 'secret']], hidesAll)).toEqual([['a', redacted('secret')]]);
    for (const cut of cuts) expect(cutter(cut).text(redacted('secret'))).toBe(redacted('secret'));
  });

  it('are cut between characters', () => {
    expect(beginningOfText('aäb', 2)).toBe('a');
    expect(beginningOfText('aäb', 3)).toBe('aä');
    expect(new ShownTexts(2, 100, 'kept').text('aäb')).toBe('a');
    expect(new ShownTexts(0, 100, 'kept').text('aäb')).toBe('');
    expect(new ShownTexts(-1, 100, 'kept').text('aäb')).toBeUndefined();
  });

  it('are redacted if either of two settings says so', () => {
    const one = { body: false, headers: ['a', 'b'] };
    expect(bothRedactions(one, { body: true, headers: ['b', 'c'] })).toEqual({
      body: true,
      headers: ['a', 'b', 'c'],
    });
    expect(bothRedactions(one, hidesAll)).toEqual(hidesAll);
    expect(bothRedactions(hidesAll, one)).toEqual(hidesAll);
    expect(bothRedactions(undefined, one)).toEqual(one);
  });

  it('are shortened in every field of every kind of message', () => {
    const long = 'x'.repeat(5_000);
    const headers = { Kept: ['n'], A: ['b'] };
    const failure = { status: 500, error: long, headers, body: long, time: 0 };
    const named = { stepName: 's', stepType: 'Run', concurrent: 1, callType: 'step' } as const;
    const step = { ...named, state: 'STEP_SUCCESS', messageId: 'm', createdAt: 0, retries: 0 } as const;
    const common = { step: { ...step, headers }, failures: [failure] };
    const messages: readonly RunMessage[] = [
      { ...common, kind: 'initial', step: { ...common.step, out: long } },
      {
        ...common,
        kind: 'call',
        details: {
          callHeaders: headers,
          callBody: long,
          callResponseBody: long,
          callResponseHeaders: headers,
        },
        callback: { messageId: 'c', failures: [failure] },
      },
      {
        ...common,
        kind: 'invoke',
        details: { invokedWorkflowRunBody: long, invokedWorkflowRunHeaders: headers },
      },
    ];
    expect(cutMessages(messages, cuts[0], 'Kept')).toEqual(messages);
    const last = cuts.at(-1) ?? cuts[0];
    const text = JSON.stringify(cutMessages(messages, last, 'Kept'));
    expect(text).not.toContain('x'.repeat(last.textBytes + 1));
    expect(text).not.toContain('"b"');
    expect(text.match(/"Kept"/g)).toHaveLength(10);
  });
});
