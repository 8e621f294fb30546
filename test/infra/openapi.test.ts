import { expect, it } from 'vitest';
import { gatewayAnswers } from '../../lib/api/gatewayAnswers.ts';
import { gatewayRefusals } from '../../lambdas/http/openapi/parts/errors.ts';

/** The gateway's refusals for a status. One of its answers has no fixed status, and may have any 5XX. */
const said = (status: number): readonly (readonly [code: string, sentence: string])[] =>
  gatewayAnswers
    .filter((answer) => (answer.status === undefined ? status >= 500 : answer.status === status))
    .map(({ code, sentence }) => [code, sentence]);

it('The APIs’ descriptions have the gateway’s own answers', () => {
  expect(gatewayRefusals.map(({ status }) => status)).toEqual([413, 429, 502, 503, 504]);
  for (const { status, examples } of gatewayRefusals) {
    expect(examples.length).toBeGreaterThan(0);
    // A stage on one machine answers 503 where the gateway answers 504.
    const sayable = status === 503 ? [...said(503), ...said(504)] : said(status);
    expect(sayable).toEqual(expect.arrayContaining([...examples]));
  }
});
