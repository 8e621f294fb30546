import { describe, expect, it } from 'vitest';
import { functionAnswer } from '../../../../lambdas/delivery/rules/functionAnswer.ts';

const answerTo = (returned: unknown, maxBytes = 1_000) => {
  const { body, ...answer } = functionAnswer(Buffer.from(JSON.stringify(returned) ?? ''), false, maxBytes);
  return { ...answer, body: Buffer.from(body).toString('utf8') };
};
const json = ['content-type', 'application/json'];

describe('the answer of a function', () => {
  it('is an object with statusCode', () => {
    expect(
      answerTo({
        statusCode: 201,
        headers: { 'Content-Type': 'text/plain', 'X-Count': 3, 'X-Yes': true, 'X-Odd': { a: 1 } },
        cookies: ['a=1; Path=/', 'b=2'],
        body: 'grün',
      }),
    ).toEqual({
      status: 201,
      headers: [
        ['content-type', 'text/plain'],
        ['x-count', '3'],
        ['x-yes', 'true'],
        ['set-cookie', 'a=1; Path=/'],
        ['set-cookie', 'b=2'],
      ],
      body: 'grün',
    });
  });

  it.each([
    ['base64', { body: Buffer.from('grün').toString('base64'), isBase64Encoded: true }, 'grün'],
    ['an object', { body: { a: 1 } }, '{"a":1}'],
    ['nothing', {}, ''],
    ['null', { body: null, headers: null, cookies: null, isBase64Encoded: null }, ''],
  ])('may have %s as a body', (_, fields, body) => {
    expect(answerTo({ statusCode: 200, ...fields })).toEqual({ status: 200, headers: [], body });
  });

  it('may have a status as text, which API Gateway accepts', () => {
    expect(answerTo({ statusCode: '404' }).status).toBe(404);
  });

  it.each([
    ['a text', 'hello', '"hello"'],
    ['an object', { done: true }, '{"done":true}'],
    ['null', null, 'null'],
  ])('is otherwise a 200 with the JSON: %s', (_, returned, body) => {
    expect(answerTo(returned)).toEqual({ status: 200, headers: [json], body });
  });

  it.each([[101], [600], [200.5], ['ok'], [null]])(
    'is a failure if its statusCode is invalid: %j',
    (statusCode) => {
      const answer = answerTo({ statusCode });
      expect(answer).toMatchObject({
        status: 502,
        headers: [json],
        body: JSON.stringify({ statusCode }),
      });
      expect(answer.error).toContain('statusCode');
    },
  );

  it('may be streamed: status and headers before eight zero bytes, and the body after them', () => {
    const head = JSON.stringify({ statusCode: 202, headers: { 'X-A': 'b' }, cookies: ['c=d'] });
    const payload = Buffer.concat([Buffer.from(head), Buffer.alloc(8), Buffer.from([0, 1, 255])]);
    expect(functionAnswer(payload, false, 1_000)).toEqual({
      status: 202,
      headers: [
        ['x-a', 'b'],
        ['set-cookie', 'c=d'],
      ],
      body: Buffer.from([0, 1, 255]),
    });
  });

  it('is a 200 with bytes that are not JSON', () => {
    const payload = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 1]);
    expect(functionAnswer(payload, false, 1_000)).toEqual({ status: 200, headers: [], body: payload });
    expect(functionAnswer(Buffer.alloc(0), false, 1_000).status).toBe(200);
  });

  it('is shortened to the largest message', () => {
    expect(answerTo({ statusCode: 200, body: 'abcdef' }, 3)).toMatchObject({ body: 'abc', isCut: true });
    expect(answerTo({ statusCode: 200, body: 'abc' }, 3)).not.toHaveProperty('isCut');
  });

  it.each([
    [
      { errorType: 'TypeError', errorMessage: 'no such order' },
      'The function failed. TypeError: no such order',
    ],
    [
      { errorMessage: 'Task timed out after 3.00 seconds' },
      'The function failed. Task timed out after 3.00 seconds',
    ],
    [{ errorType: '', errorMessage: 'out of memory' }, 'The function failed. out of memory'],
    ['odd', 'The function failed.'],
  ])('is a 500 with the error if the function fails: %j', (thrown, error) => {
    const payload = Buffer.from(JSON.stringify(thrown));
    expect(functionAnswer(payload, true, 1_000)).toEqual({
      status: 500,
      error,
      headers: [json],
      body: payload,
    });
  });
});
