import { expect, it } from 'vitest';
import { gatewayAnswers } from '../../lib/api.ts';
import { sharedErrorResponses } from '../../lambdas/http/openapi/errors.ts';

it('The API’s description has what the gateway answers by itself', () => {
  const described = sharedErrorResponses();
  const sentences = (status: number): readonly string[] =>
    Object.values(described[`Error${status}`]?.content['application/json'].examples ?? {}).map(
      ({ value }) => value.error,
    );
  const said = (status: number): readonly string[] =>
    gatewayAnswers.filter((answer) => answer.status === status).map(({ sentence }) => sentence);
  for (const status of [413, 429, 502, 504]) {
    expect(sentences(status).length).toBeGreaterThan(0);
    expect(said(status)).toEqual(expect.arrayContaining([...sentences(status)]));
  }
});
