/** Runs code that the console shows, like a user who copies it. */
import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import * as z from 'zod/mini';
import { clientCodeOf } from '../../console/src/screens/publish/clientCode.ts';
import { curlOf } from '../../console/src/screens/publish/curl.ts';
import { emptyDraft, type Draft } from '../../console/src/screens/publish/draft.ts';
import { root } from '../support/bundledStage.ts';
import { limitForHangsMs } from '../support/limits.ts';
import { getInAnyState } from '../support/listedMessages.ts';
import { service } from '../support/publish.ts';
import type { Inbox } from '../support/receiver.ts';
import { sampleOf } from '../support/sample.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

const run = promisify(execFile);
const env = () => ({ ...process.env, SVC_TOKEN: service.token });
const messageIdIn = (output: string): string =>
  z.object({ messageId: z.string() }).parse(JSON.parse(output)).messageId;

/** Returns the id of the message that a shell command publishes. */
async function runInShell(command: string): Promise<string> {
  // Through stdin, because an argument would be too long for a large body.
  const started = run('sh', ['-s'], { env: env(), timeout: limitForHangsMs });
  started.child.stdin?.end(`${command}\n`);
  return messageIdIn((await started).stdout);
}

const bytesOf = ({ body, bodyBase64 }: Draft): Buffer =>
  bodyBase64 === undefined ? Buffer.from(body) : Buffer.from(bodyBase64, 'base64');

const awkward = `{"it's": "$HOME \`id\` \\\\ \\" !! 100% ünï ☃ 😀 <&>",\n\t"n": 1.50}\n`;

/** Drafts with different peculiarities. Each gets the URL of an inbox. */
const drafts: readonly (readonly [what: string, draft: (url: string) => Partial<Draft>])[] = [
  ['JSON', (destination) => ({ destination, body: '{"hello":"world","list":[1,{"a":null}]}' })],
  ['nothing', (destination) => ({ destination, settings: { method: 'GET' } })],
  ['awkward characters', (destination) => ({ destination, body: awkward, contentType: `text/plain; x="'"` })],
  ['a body without a type', (destination) => ({ destination, body: '@not-a-file', contentType: '' })],
  [
    'bytes',
    (destination) => ({ destination, bodyBase64: '/wD+/Q==', contentType: 'application/octet-stream' }),
  ],
  ['a zero byte', (destination) => ({ destination, body: 'a\0b', contentType: 'text/plain' })],
  ['a long text', (destination) => ({ destination, body: `it's ${'long '.repeat(60_000)}` })],
  [
    'a key that is something else in code',
    (destination) => ({ destination, body: '{"__proto__":{"a":1},"constructor":2}' }),
  ],
  [
    'all settings',
    (destination) => ({
      destination,
      body: '[1]',
      headers: `X-Quote: it's "$HOME"\nSvc-Callback-Retries: 1\nX-Empty:\nX-Key: secret`,
      queue: 'console-code',
      settings: {
        method: 'PATCH',
        delay: '1s',
        timeout: '1m5s',
        retries: '02',
        'retry-delay': `pow(2, retried) * 1000`,
        circuit: 'off',
        'flow-control-key': `tenant's "7"`,
        parallelism: '3',
        rate: '10',
        period: '1m30s',
        callback: `${destination}/done`,
        'failure-callback': `${destination}/failed`,
        label: 'a, b',
        'redact-fields': 'header[x-key]',
      },
    }),
  ],
];

const draftTo = (inbox: Inbox, make: (url: string) => Partial<Draft>): Draft => ({
  ...emptyDraft,
  ...make(inbox.url),
});

async function settingsOf(messageId: string): Promise<unknown> {
  const {
    messageId: _id,
    createdAt,
    notBefore,
    state: _state,
    retried: _retried,
    responseStatus: _status,
    nextDeliveryTime: _next,
    endedAt: _ended,
    callbackIds: _callbacks,
    ...settings
  } = z.looseObject({ createdAt: z.number(), notBefore: z.number() }).parse(await getInAnyState(messageId));
  return { ...settings, delayMs: notBefore - createdAt };
}

describe('the command', () => {
  it('publishes with any settings', async () => {
    const inbox = receiver.inbox();
    const [, make] = drafts.at(-1) ?? [];
    const draft = draftTo(inbox, make ?? (() => ({})));
    const messageId = await runInShell(curlOf(draft, service.url));
    expect(await settingsOf(messageId)).toMatchObject({
      url: inbox.url,
      method: 'PATCH',
      header: {
        'Content-Type': ['application/json'],
        'X-Quote': [`it's "$HOME"`],
        'X-Empty': [''],
        'X-Key': [expect.stringMatching(/^REDACTED:/)],
      },
      delayMs: 1_000,
      timeout: 65,
      maxRetries: 2,
      retryDelayExpression: 'pow(2, retried) * 1000',
      circuit: 'off',
      queueName: 'console-code',
      flowControlKey: `tenant's "7"`,
      parallelism: 3,
      rate: 10,
      period: 90,
      callback: `${inbox.url}/done`,
      failureCallback: `${inbox.url}/failed`,
      labels: ['a', 'b'],
    });
  });

  // The emulator’s gateway decodes paths, unlike API Gateway.
  it.skipIf(process.env['SVC_E2E_TARGET'] === 'deployed')(
    'may have any destination, and any label',
    async () => {
      const inbox = receiver.inbox();
      const destination = `${inbox.url}/it's/%2F?a=1&svc-retries=0&b=[{x}]&c=$HOME`;
      const messageId = await runInShell(
        curlOf({ ...emptyDraft, destination, settings: { label: `grün, it's` } }, service.url),
      );
      const [delivery] = await inbox.received(1);
      expect(`${receiver.origin}${delivery?.target}`).toBe(destination);
      expect(await settingsOf(messageId)).toMatchObject({ labels: ['grün', `it's`] });
    },
  );

  it('may have any text as its body', async () => {
    const inbox = receiver.inbox();
    const text = fc.string({ unit: 'binary', maxLength: 40 }).map((one) => one.toWellFormed());
    await fc.assert(
      fc.asyncProperty(text, async (body) => {
        const draft = { ...emptyDraft, destination: inbox.url, body };
        const messageId = await runInShell(curlOf(draft, service.url));
        const isIt = ({ headers }: { readonly headers: Readonly<Record<string, string>> }): boolean =>
          headers['svc-message-id'] === messageId;
        const deliveries = await inbox.until((all) => all.some(isIt));
        expect(deliveries.find(isIt)?.body.toString()).toBe(body);
      }),
      { numRuns: sampleOf(200) },
    );
  });
});

describe('the code for the published client', () => {
  const folder = join(root, `.cache/console-code-${process.pid}`);
  const fileOf = (index: number): string => join(folder, `${index}.mts`);
  const inboxes: Inbox[] = [];

  beforeAll(async () => {
    await mkdir(folder, { recursive: true });
    for (const [index, [, make]] of drafts.entries()) {
      const inbox = receiver.inbox();
      inboxes.push(inbox);
      await writeFile(fileOf(index), clientCodeOf(draftTo(inbox, make), service.url));
    }
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it('is TypeScript that compiles', async () => {
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022', '--types', 'node'];
    const modules = ['--module', 'nodenext', '--moduleResolution', 'nodenext', '--ignoreConfig'];
    const { stdout } = await run(
      process.execPath,
      [
        join(root, 'node_modules/typescript/bin/tsc'),
        ...options,
        ...modules,
        ...drafts.map((_, i) => fileOf(i)),
      ],
      { cwd: root },
    ).catch((error: unknown) => z.object({ stdout: z.string() }).parse(error));
    expect(stdout).toBe('');
  });

  it.each(drafts.map(([what], index) => [what, index] as const))(
    'publishes %s as the command does',
    async (_what, index) => {
      const inbox = inboxes[index] ?? receiver.inbox();
      const [, make] = drafts[index] ?? ['', () => ({})];
      const isOwn = ({ target }: { readonly target: string }): boolean => !/\/(done|failed)$/.test(target);
      vi.stubEnv('SVC_TOKEN', service.token);
      await import(/* @vite-ignore */ fileOf(index));
      const byClient = (await inbox.until((all) => all.some(isOwn))).find(isOwn);
      const draft = draftTo(inbox, make);
      const messageId = await runInShell(curlOf(draft, service.url));
      const isCommands = ({ headers }: { readonly headers: Readonly<Record<string, string>> }): boolean =>
        headers['svc-message-id'] === messageId;
      const byCommand = (await inbox.until((all) => all.some(isCommands))).find(isCommands);
      expect(byClient?.method).toBe(byCommand?.method);
      expect(byClient?.headers['content-type']).toBe(byCommand?.headers['content-type']);
      expect(byClient?.body).toEqual(bytesOf(draft));
      expect(byCommand?.body).toEqual(bytesOf(draft));
      expect(await settingsOf(byClient?.headers['upstash-message-id'] ?? '')).toEqual(
        await settingsOf(messageId),
      );
    },
  );
});
