import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { manage } from '../support/accounts.ts';
import { root } from '../support/bundledStage.ts';
import { call, service } from '../support/publish.ts';
import { startStage, type Stage } from '../support/stage.ts';

/** Runs the published clients unchanged and without settings on `npm start -- --dev`. */

// The publicly known token and keys in the clients.
const wellKnownToken = 'eyJVc2VySUQiOiJkZWZhdWx0VXNlciIsIlBhc3N3b3JkIjoiZGVmYXVsdFBhc3N3b3JkIn0=';
const wellKnownKeys = {
  current: 'sig_7kYjw48mhY7kAjqNGcy6cr29RJ6r',
  next: 'sig_5ZB6DVzB1wjE8S6rZ7eenA8Pdnhs',
};
const bearer = { authorization: `Bearer ${wellKnownToken}` };

/** Returns the status of a request with a Host that `fetch` would not send. */
const statusWithHost = (url: string, path: string, host: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const request = get(`${url}${path}`, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on('error', reject);
  });

const told = z.looseObject({ event: z.string() });

describe.runIf(service.target === 'local')('an application with QSTASH_DEV=true', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await startStage({ args: ['--dev', '--publish-port', '0'] });
  });
  afterAll(() => stage.remove());

  it('finds the stage, publishes, verifies what arrives and runs a workflow', async () => {
    // Clients that do not find the server download one into the home directory.
    const home = await mkdtemp(join(tmpdir(), 'svc-home-'));
    const { port } = new URL(stage.url);
    const app = spawn(process.execPath, ['--import', 'tsx', 'test/support/devModeApp.ts'], {
      cwd: root,
      env: { PATH: process.env['PATH'], HOME: home, QSTASH_DEV: 'true', QSTASH_DEV_PORT: port },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(app, 'exit');
    const events = new Map<string, z.infer<typeof told>>();
    for await (const line of createInterface(app.stdout)) {
      if (!line.startsWith('{')) continue;
      const one = told.parse(JSON.parse(line));
      events.set(one.event, one);
      if (['published', 'delivered', 'triggered', 'ran'].every((event) => events.has(event))) break;
    }
    app.kill();
    await ended;
    expect(Object.fromEntries(events)).toEqual({
      published: { event: 'published', messageId: expect.stringMatching(/^msg_/) as string },
      delivered: {
        event: 'delivered',
        verified: true,
        forged: expect.stringContaining('body hash') as string,
        body: '{"hello":"world"}',
      },
      triggered: { event: 'triggered', workflowRunId: expect.stringMatching(/^wfr_/) as string },
      ran: { event: 'ran', doubled: 42 },
    });
    expect(await readdir(home)).toEqual([]);
    await rm(home, { recursive: true });
  });

  it('has the token and the keys that the stage prints, with a warning', () => {
    expect(stage.token).toBe(wellKnownToken);
    expect([stage.currentSigningKey, stage.nextSigningKey]).toEqual(Object.values(wellKnownKeys));
    const { port } = new URL(stage.url);
    expect(stage.output()).toContain(`Applications find it with QSTASH_DEV=true QSTASH_DEV_PORT=${port},`);
  });

  it('is refused if it rotates the token or the keys, which do not change', async () => {
    const fixed = {
      error: expect.stringContaining('are fixed while the local stage runs with --dev') as string,
      code: 'credentials_fixed',
    };
    const keys = await call('/v2/keys/rotate', { method: 'POST', headers: bearer }, stage.url);
    expect(keys).toMatchObject({ status: 403, json: fixed });
    const { management } = stage;
    const accounts = await manage('GET', '/v2/svc/users', { management });
    const [{ id }] = z.tuple([z.looseObject({ id: z.string() })]).parse(accounts.json);
    const token = await manage('POST', `/v2/svc/rotate-token/${id}`, { management });
    expect(token).toMatchObject({ status: 403, json: fixed });
    expect(await call('/v2/keys', { headers: bearer }, stage.url)).toMatchObject({
      status: 200,
      json: wellKnownKeys,
    });
  });

  it('cannot be used by pages of other sites, at any of its URLs', async () => {
    const { management } = stage;
    const basic = `Basic ${Buffer.from(`${management.user}:${management.password}`).toString('base64')}`;
    const requests = [
      [stage.url, '/v2/publish/http://127.0.0.1:9/', { ...bearer, 'content-type': 'text/plain' }],
      [
        stage.publishUrl ?? '',
        '/v2/publish/http://127.0.0.1:9/',
        { ...bearer, 'content-type': 'text/plain' },
      ],
      [management.url, '/v2/svc/users', { authorization: basic }],
      [stage.url, '/console', {}],
    ] as const;
    for (const [url, path, given] of requests) {
      const headers: Readonly<Record<string, string>> = given;
      const foreign: readonly Readonly<Record<string, string>>[] = [
        { origin: 'https://evil.example' },
        { 'sec-fetch-site': 'cross-site' },
      ];
      for (const more of foreign) {
        const method = path.includes('publish') ? 'POST' : 'GET';
        const refused = await call(path, { method, headers: { ...headers, ...more } }, url);
        expect(refused, `${url}${path}`).toMatchObject({ status: 403, json: { code: 'foreign_site' } });
      }
      expect(await statusWithHost(url, path, 'rebound.example')).toBe(403);
      expect(await statusWithHost(url, path, new URL(url).host)).not.toBe(403);
    }
    const own = { ...bearer, origin: stage.url, 'sec-fetch-site': 'same-origin' };
    expect((await call('/v2/keys', { headers: own }, stage.url)).status).toBe(200);
  });

  it('does not share its token and keys with other accounts', async () => {
    const { management } = stage;
    const made = await manage('POST', '/v2/svc/users', {
      body: { customer_id: 'other@acme.example' },
      management,
    });
    const { token } = z.object({ token: z.string() }).parse(made.json);
    expect(token).not.toBe(wellKnownToken);
    const keys = await call('/v2/keys', { headers: { authorization: `Bearer ${token}` } }, stage.url);
    expect(keys.status).toBe(200);
    expect(keys.json).not.toEqual(wellKnownKeys);
  });

  it('does not change the data: without --dev its account has its own token and keys again', async () => {
    await stage.stop();
    const { dataDir } = stage;
    const plain = await startStage({ dataDir });
    expect((await call('/v2/keys', { headers: bearer }, plain.url)).status).toBe(401);
    expect(plain.token).not.toBe(wellKnownToken);
    await plain.stop();
    stage = await startStage({ dataDir, args: ['--dev'] });
    const owned = { authorization: `Bearer ${plain.token}` };
    for (const headers of [bearer, owned]) {
      expect((await call('/v2/keys', { headers }, stage.url)).json).toEqual(wellKnownKeys);
    }
  });
});

it('The publicly known token is refused by other services', async () => {
  expect((await call('/v2/keys', { headers: bearer })).status).toBe(401);
});
