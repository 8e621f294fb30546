import { describe, expect, it } from 'vitest';
import { messageOf } from '../../../support/messageOf.ts';
import * as z from 'zod/mini';
import type { DestinationResponse } from '../../../../lambdas/destination/response.ts';
import { tooLargeForStep } from '../../../../lambdas/delivery/callbackBody.ts';
import { callResultBody } from '../../../../lambdas/workflow/delivery/callResult.ts';

const call = messageOf({ messageId: 'msg_call', prefix: 'Upstash', method: 'GET', maxRetries: 3 });

const resultOf = (response: DestinationResponse, retried: number, maxBytes = 10_000): unknown => {
  const details = { message: call, body: new Uint8Array(), response, retried };
  return JSON.parse(Buffer.from(callResultBody(details, maxBytes)).toString());
};
const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('the result of a call', () => {
  it('contains the answer', () => {
    const answer = { status: 201, headers: [['x-a', 'b']] as const, body: Buffer.from('made') };
    expect(resultOf(answer, 1)).toMatchObject({
      status: 201,
      header: { 'X-A': ['b'] },
      body: base64('made'),
      retried: 1,
      maxRetries: 3,
      sourceMessageId: 'msg_call',
    });
  });

  it('has the bytes of headers as fetch would show them, because the client makes Headers of them', () => {
    const bytes = Buffer.from('東京 é').toString('latin1');
    const answer = { status: 200, headers: [['x-city', bytes]] as const, body: Buffer.from('made') };
    const { header } = z
      .object({ header: z.record(z.string(), z.array(z.string())) })
      .parse(resultOf(answer, 0));
    expect(header).toEqual({ 'X-City': [bytes] });
    expect(
      new Headers(Object.entries(header).map(([name, [value = '']]) => [name, value])).get('x-city'),
    ).toBe(bytes);
  });

  it('is the last one if the call stopped its retries early', () => {
    const answer = { status: 489, headers: [], body: Buffer.from('never') };
    expect(resultOf(answer, 1)).toMatchObject({ status: 489, retried: 1, maxRetries: 1 });
  });

  it('says why if there was no answer', () => {
    const nothing = { status: 0, error: 'It took too long.', headers: [], body: new Uint8Array() };
    expect(resultOf(nothing, 3)).toMatchObject({ status: 0, header: {}, body: base64('It took too long.') });
  });

  it('contains the whole answer, and the part of the call’s body for which there is room', () => {
    const answer = { status: 200, headers: [], body: Buffer.alloc(1_000, 'x') };
    const details = { message: call, body: Buffer.from('é'.repeat(1_000)), response: answer, retried: 0 };
    const bytes = callResultBody(details, 2_400);
    expect(bytes.length).toBeLessThanOrEqual(2_400);
    const read = z
      .object({
        body: z.string(),
        bodyIsCut: z.optional(z.boolean()),
        sourceBody: z.string(),
        sourceBodyIsCut: z.boolean(),
      })
      .parse(JSON.parse(Buffer.from(bytes).toString()));
    expect(read).toMatchObject({ body: answer.body.toString('base64'), sourceBodyIsCut: true });
    expect(read.bodyIsCut).toBeUndefined();
    expect(Buffer.from(read.sourceBody, 'base64').toString()).toMatch(/^é{100,}$/);
  });

  it('is the reason if the answer was not read', () => {
    const answer = {
      status: 200,
      error: 'It is too large.',
      headers: [],
      body: Buffer.from('the beginning'),
    };
    expect(resultOf(answer, 0)).toMatchObject({
      status: 0,
      header: {},
      body: base64('It is too large.'),
      retried: 0,
      maxRetries: 0,
    });
  });
});

describe('an answer', () => {
  const problemOf = (body: Uint8Array, maxBytes: number, isCut?: true) =>
    tooLargeForStep(
      {
        message: call,
        body: new Uint8Array(),
        response: { status: 200, headers: [], body, isCut },
        retried: 3,
      },
      maxBytes,
    );

  it('fits if the message that brings it fits', () => {
    let most = 0;
    while (problemOf(Buffer.alloc(most + 1, 'x'), 3_000) === undefined) most += 1;
    const fits = { status: 200, headers: [], body: Buffer.alloc(most, 'x') };
    expect(resultOf(fits, 3, 3_000)).toMatchObject({ body: base64('x'.repeat(most)) });
    expect(resultOf(fits, 3, 3_000)).not.toHaveProperty('bodyIsCut');
    expect(problemOf(Buffer.alloc(most + 1, 'x'), 3_000)).toMatch(
      new RegExp(
        `^The answer has ${most + 1} bytes, .* would have 300[1-4] with it; allowed are 3000 \\(max_message_size\\)\\.$`,
      ),
    );
  });

  it.each([
    ['quotes', '"'],
    ['control characters', '\u0001'],
    ['letters beyond ASCII', 'é'],
  ])('of %s fits only if the step that the client makes of it fits', (_name, character) => {
    const body = Buffer.from(character.repeat(1_000));
    const latin1 = body.toString('latin1');
    const step = {
      stepId: 1,
      stepName: 'a',
      stepType: 'Call',
      out: JSON.stringify({ status: 200, body: latin1, header: {} }),
      concurrent: 1,
    };
    const bytes = Buffer.byteLength(JSON.stringify(step));
    expect(problemOf(body, bytes)).toContain('allowed are');
    expect(problemOf(body, bytes + 512)).toBeUndefined();
  });

  it('does not fit if its end was not read', () => {
    expect(problemOf(Buffer.from('x'), 100_000, true)).toMatch(/^The answer has 1 bytes or more, /);
  });
});
