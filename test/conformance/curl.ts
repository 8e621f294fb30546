/** Pulling by `curl`, which has no client. */
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import * as z from 'zod/mini';
import { runOperations, token, url } from './harness.ts';

const answer = z.looseObject({ code: z.optional(z.string()), error: z.optional(z.string()) });
const taken = z.object({
  messages: z.array(
    z.looseObject({
      completion: z.string(),
      completionDeadline: z.number(),
      body: z.optional(z.string()),
    }),
  ),
});

/** @returns the status and the answer */
async function post(path: string, body: string | object, ...more: readonly string[]) {
  const data = typeof body === 'string' ? body : JSON.stringify(body);
  const format = ['-sS', '-w', '\n%{http_code}', '-H', `Authorization: Bearer ${token}`];
  const all = [...format, ...more, '--data-binary', data, `${url}/v2/${path}`];
  const { stdout } = await promisify(execFile)('curl', all);
  const [status = '', ...text] = stdout.split('\n').toReversed();
  return { status: Number(status), json: answer.parse(JSON.parse(text.toReversed().join('\n'))) };
}

async function takeOne(name: string) {
  const { messages } = taken.parse((await post(`pull/${name}`, { wait: '20s', within: '1h' })).json);
  const [one] = messages;
  if (one === undefined) throw new Error(`Nothing came from ${name}.`);
  return one;
}

async function publishAndTake(...headers: readonly string[]) {
  const name = `curl-${randomUUID()}`;
  const one = takeOne(name);
  equal(
    (await post(`publish/pull:${name}`, '東京', ...headers.flatMap((header) => ['-H', header]))).status,
    200,
  );
  return { name, ...(await one) };
}

await runOperations({
  'publish/pull:{name}, pull/{name}; waits for a message': async () => {
    const { name, body } = await publishAndTake();
    equal(body, '東京');
    deepEqual((await post(`pull/${name}`, {})).json, { messages: [] });
  },
  'complete/{completion}; the first one counts': async () => {
    const { completion } = await publishAndTake();
    const states = [];
    for (const status of [200, 500])
      states.push((await post(`complete/${completion}`, { status })).json['state']);
    deepEqual(states, ['DELIVERED', 'DELIVERED']);
  },
  'complete/{completion}; a failure, after which the message is offered again': async () => {
    const { name, completion } = await publishAndTake('Svc-Retry-Delay: 0');
    equal((await post(`complete/${completion}`, { status: 503 })).json['state'], 'RETRY');
    equal((await takeOne(name))['retried'], 1);
  },
  'extend/{completion}': async () => {
    const { completion, completionDeadline } = await publishAndTake();
    const { json } = await post(`extend/${completion}`, { within: '2h' });
    ok(Number(json['completionDeadline']) > completionDeadline);
  },
  'complete, extend; an unknown completion': async () => {
    const answers = [await post('complete/x', {}), await post('extend/x', { within: '1m' })];
    deepEqual(
      answers.map(({ status, json }) => [status, json.code]),
      Array(2).fill([404, 'completion_not_found']),
    );
  },
  'pull/{name}; count, wait and within out of range': async () => {
    for (const [field, value] of Object.entries({ count: 101, wait: '21s', within: '8d' })) {
      const { status, json } = await post('pull/jobs', { [field]: value });
      equal(status, 400);
      match(json.error ?? '', new RegExp(field));
    }
  },
});
