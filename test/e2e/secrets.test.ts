import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import {
  changeAccount,
  makeAccount,
  manage,
  publishAs,
  recordOf,
  type AccountRecord,
} from '../support/accounts.ts';
import { otherDynamodb } from '../differential/stageDatabase.ts';
import { eventually } from '../support/eventually.ts';
import { call, messageIdOf, service } from '../support/publish.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { startStage, type Stage } from '../support/stage.ts';

/** Searches everything that a stage has stored, byte for byte, for secrets. */

const keysShape = z.object({ current: z.string(), next: z.string() });
const logLine = z.looseObject({ level: z.string(), messageId: z.optional(z.string()) });
const passwordShape = z.object({ Password: z.string() });

const passwordOf = (token: string): string =>
  passwordShape.parse(JSON.parse(Buffer.from(token, 'base64').toString())).Password;

/** Names of the files that hold the secrets themselves. They are not tables. */
const secretFiles = new Set(['env', 'master-secret', 'management-password', 'lock']);

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return filesIn(path);
    return secretFiles.has(name) ? [] : [path];
  });
}

/**
 * Returns how bytes look inside a longer base64 text, for each of the three positions. The ends are left out, because they depend on
 * the neighbouring bytes.
 */
function inBase64(bytes: Buffer): readonly string[] {
  return [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    return text.slice(before === 0 ? 0 : before + 1, -3);
  });
}

/** Returns the forms in which bytes may be stored. */
function writings(bytes: Buffer): readonly Buffer[] {
  const base64 = inBase64(bytes);
  const texts = [
    ...base64,
    ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
    ...base64.map((text) => text.replaceAll('/', '\\/')),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    encodeURIComponent(bytes.toString('latin1')),
    bytes.toString('latin1').split('').reverse().join(''),
  ];
  return [
    bytes,
    ...texts.map((text) => Buffer.from(text, 'latin1')),
    Buffer.from(bytes.toString('latin1'), 'utf16le'),
  ];
}

/** Returns secrets as text, with the bytes that they encode. */
function secretsOf(
  account: AccountRecord,
  keys: z.infer<typeof keysShape>,
): readonly (readonly [string, Buffer])[] {
  const tokens = [account.token, account.read_only_token];
  return [
    ...tokens.map((token) => ['a token', Buffer.from(token)] as const),
    ...tokens.map((token) => ['a password', Buffer.from(passwordOf(token))] as const),
    ...tokens.map((token) => ['a password’s bytes', Buffer.from(passwordOf(token), 'base64url')] as const),
    ...Object.values(keys).map((key) => ['a signing key', Buffer.from(key)] as const),
    ...Object.values(keys).map(
      (key) => ['a signing key’s bytes', Buffer.from(key.replace('whsec_', ''), 'base64')] as const,
    ),
  ];
}

describe.runIf(service.target === 'local')('what is stored', () => {
  let stage: Stage;
  let receiver: Receiver;
  beforeAll(async () => {
    [stage, receiver] = await Promise.all([
      startStage({ env: { POWERTOOLS_LOG_LEVEL: 'DEBUG' } }),
      startReceiver(),
    ]);
  });
  afterAll(async () => {
    await receiver.close();
    await stage.remove();
  });

  it('has no token and no signing key in any encoding', async ({ skip }) => {
    skip(otherDynamodb !== undefined, 'The rows of another database are not in the data directory.');
    const { management, url } = stage;
    const make = () => makeAccount({ region: 'eu-central-1' }, management);
    const before = await make();
    const keysOf = async (token: string, method = 'GET', path = '/v2/keys') =>
      keysShape.parse(
        (await call(path, { method, headers: { authorization: `Bearer ${token}` } }, url)).json,
      );
    const secrets = [...secretsOf(before, await keysOf(before.token))];
    const account = recordOf(await manage('POST', `/v2/svc/rotate-token/${before.id}`, { management }));
    secrets.push(...secretsOf(account, await keysOf(account.token, 'POST', '/v2/keys/rotate')));

    // A token is sent in every possible way: header, query, forwarded headers, callbacks, schedules, failures.
    const fails = receiver.inbox((_delivery, response) => response.writeHead(500).end('no'));
    const inbox = receiver.inbox();
    const forward = { 'Svc-Header-Forward': 'true', 'X-Plain': 'to-be-found' };
    const bodies = ['small-to-be-found', 'x'.repeat(3_000), 'y'.repeat(20_000)];
    for (const body of bodies) {
      messageIdOf(
        await publishAs(account, inbox.url, {
          url,
          body,
          headers: { ...forward, 'Svc-Callback': inbox.url },
        }),
      );
    }
    const query = `svc_token=${encodeURIComponent(account.token)}&own=parameter`;
    messageIdOf(await publishAs({ token: '' }, inbox.url, { url, query, headers: forward }));
    const failed = { ...forward, 'Svc-Retries': '0', 'Svc-Failure-Callback': inbox.url };
    const failedId = messageIdOf(await publishAs(account, fails.url, { url, headers: failed }));
    const cron = { ...forward, 'Svc-Cron': '0 0 29 2 *' };
    await call(
      `/v2/schedules/${inbox.url}`,
      { method: 'POST', headers: { authorization: `Bearer ${account.token}`, ...cron }, body: 'scheduled' },
      url,
    );
    messageIdOf(await publishAs(account, inbox.url, { url, headers: { ...forward, 'Svc-Delay': '2h' } }));
    await changeAccount(account.id, { active: false }, management);
    await changeAccount(account.id, { active: true }, management);
    await inbox.received(8);
    for (const delivery of inbox.deliveries) {
      expect(JSON.stringify(delivery.headers)).not.toContain(account.token);
      expect(delivery.target).not.toContain(account.token);
    }
    await eventually(
      async () => call('/v2/dlq', { headers: { authorization: `Bearer ${account.token}` } }, url),
      ({ json }) => JSON.stringify(json).includes('dlq_'),
    );
    await stage.stop();

    const files = filesIn(stage.dataDir);
    const dump = Buffer.concat(files.map((file) => readFileSync(file)));
    // The search finds existing texts, so it would find a secret, too.
    for (const known of ['to-be-found', account.id]) expect(dump.includes(known), known).toBe(true);
    expect(inBase64(Buffer.from('small-to-be-found')).some((text) => dump.includes(text))).toBe(true);
    for (const [what, secret] of secrets) {
      for (const writing of writings(secret)) {
        expect(dump.includes(writing), `${what}: ${writing.toString('latin1').slice(0, 12)}…`).toBe(false);
      }
    }
    // The stage’s output is stored, too.
    const output = stage.output().replace(/^SVC_.*$/gm, '');
    const logged = output.split('\n').filter((line) => line.startsWith('{'));
    expect(logged.map((line) => logLine.parse(JSON.parse(line)))).toContainEqual(
      expect.objectContaining({ level: 'WARN', messageId: failedId }),
    );
    expect(logged.join()).not.toMatch(/to-be-found|own=parameter|no-such/);
    for (const [what, secret] of secrets)
      expect(output.includes(secret.toString('latin1')), what).toBe(false);
  });
});
