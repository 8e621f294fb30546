import { describe, expect, it } from 'vitest';
import { describeApi } from '../../../lambdas/http/openapi/document.ts';
import { schemasIn } from '../../../lambdas/http/openapi/parts/schemas.ts';
import { completion } from '../../../operate/api/completion.ts';
import { knownOperation, operations } from '../../../operate/api/operations.ts';
import { operationIn, parseApi } from '../../../operate/api/options.ts';
import { parseOpen } from '../../../operate/api/open.ts';
import { requestOf } from '../../../operate/api/request.ts';
import { shortcuts, type Action } from '../../../operate/api/shortcuts.ts';
import { shown } from '../../../operate/api/show.ts';

const actions = Object.entries(shortcuts).flatMap(([name, shortcut]) =>
  Object.entries<Action>(shortcut.actions).map(([word, action]) => ({
    name: `${name} ${word}`.trim(),
    action,
  })),
);

describe('the commands for users', () => {
  it('reach every operation of the API’s description', () => {
    const described = Object.values(describeApi().paths).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    );
    expect(operations.map(({ id }) => id).sort()).toEqual(described.sort());
    for (const { id, path } of operations) {
      const values = [...path.matchAll(/\{(\w+)/g)].map(([, name = '']) => `${name}=x`);
      const required =
        id === 'publishMessagesAgain'
          ? ['background=true']
          : id === 'findNames'
            ? ['q=x']
            : id === 'explainCron'
              ? ['expression=x']
              : [];
      expect(parseApi(['api', id, ...values, ...required, '--yes']).operation.id).toBe(id);
    }
  });

  it.each(actions)('show columns that answers have: $name', ({ action }) => {
    const { path, method } = operationIn(action, undefined);
    const [answer = {}] = Object.values(describeApi().paths[path]?.[method.toLowerCase()]?.responses ?? {});
    const schemas = JSON.stringify(schemasIn(answer));
    expect(action.columns?.split(' ').filter((column) => !schemas.includes(`"${column}":{`)) ?? []).toEqual(
      [],
    );
  });

  it.each([
    [['messages', 'nix=1'], /^nix is not a field of listMessages; allowed are order, /],
    [['message'], /^messageId is missing; getMessage requires it\.$/],
    [['message', '..'], /^messageId is "\.\."; allowed is a name or an id\.$/],
    [['message', 'a', 'b'], /^'b' is one argument too many/],
    [['dlq', 'eat'], /^'eat' is not an action of dlq; allowed are list, count, show, retry, delete\.$/],
    [['dlq', 'retry'], /^Send many dead letters again: without filters this concerns all of them\./],
    [['dlq', 'delete', 'dlq_1'], /^Delete a dead letter: this cannot be undone\. Add --yes/],
    [['messages', '--follow'], /^The flag --follow is for logs\.$/],
    [['messages', '--data', 'x'], /^listMessages takes no body\.$/],
    [['tokens', 'create', 'name=a', '--data', '{}'], /^name is given beside a whole body/],
    [['api', 'frobnicate'], /^There is no operation 'frobnicate'/],
    [['api', 'GET', '/v2/nix'], /^There is no operation 'GET \/v2\/nix'/],
    [['api', 'findNames'], /^q is missing; findNames requires it\.$/],
  ])('refuse %j, naming the field', (args, sentence) => {
    expect(() => parseApi(args)).toThrow(sentence);
  });

  it('refuse an unknown place of the console, and make the addresses that the console has', () => {
    expect(() => parseOpen(['nix'])).toThrow(/^The place is 'nix'; allowed are an id, overview, messages/);
    expect(parseOpen(['msg_1']).place).toBe('#/messages/msg_1');
    expect(parseOpen(['queues', 'a b']).place).toBe('#/queues/a%20b');
  });
});

describe('a request', () => {
  it('has values in its path, query, headers and body, wherever the operation takes them', () => {
    const { values } = parseApi([
      'api',
      'POST',
      '/v2/publish/https%3A%2F%2Fa.example%2Fb%3Fc=1',
      'retries=0',
      'Svc-Forward-X=1',
    ]);
    expect(requestOf(knownOperation('publishMessage'), values, '{"id":7}')).toEqual({
      method: 'POST',
      path: '/v2/publish/https%3A%2F%2Fa.example%2Fb%3Fc%3D1',
      headers: { 'content-type': 'application/json', 'Svc-retries': '0', 'Svc-Forward-X': '1' },
      body: '{"id":7}',
    });
    expect(
      requestOf(knownOperation('holdHost'), [
        ['host', 'a:80'],
        ['duration', '2h'],
      ]),
    ).toMatchObject({
      path: '/v2/hosts/a%3A80/hold',
      body: '{"duration":"2h"}',
    });
    expect(requestOf(knownOperation('notify'), [['event', 'run/a b']]).path).toBe('/v2/notify/run/a%20b');
    expect(
      requestOf(knownOperation('listLogs'), [
        ['label', ['a', 'b']],
        ['fromDate', '2026-01-01T00:00Z'],
      ]).path,
    ).toBe('/v2/logs?label=a%2Cb&fromDate=1767225600000');
  });
});

describe('a table', () => {
  it('has no control characters of other people’s texts, and fits the terminal', () => {
    const answer = {
      messages: [{ label: 'a\u001b[2Jb\u202e', createdAt: 1_767_225_600_000, url: 'https://a.example/' }],
    };
    const text = shown(answer, { rows: 'messages', columns: 'label createdAt url' }, 38);
    expect(text).toBe('LABEL    CREATED AT                URL\na [2Jb   2026-01-01T00:00:00.000Z  ht…');
  });
});

describe('completion', () => {
  const words = (...given: readonly string[]) =>
    completion(['words', '--', ...given], ['start', 'messages', 'dlq']).split('\n');

  it('knows commands, actions, fields and values, also as bash splits them', () => {
    expect(words('m')).toEqual(['messages']);
    expect(words('dlq', 'r')).toEqual(['retry']);
    expect(words('dlq', 'retry', 'lab')).toEqual(['label=']);
    expect(words('messages', 'state=DEL')).toEqual(['state=DELIVERED']);
    expect(words('messages', 'state', '=', 'DEL')).toEqual(['DELIVERED']);
    expect(words('messages', 'state', '=')).toContain('FAILED');
    expect(words('api', 'getMess')).toEqual(['getMessage']);
  });
});
