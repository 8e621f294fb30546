import { execFileSync } from 'node:child_process';
import {
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  readdirSync,
  readlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, fetch as fetchTls } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { call, errorOf, messageIdOf, publish, service } from '../support/publish.ts';
import { runStage, startStage, type Stage, type StageOptions } from '../support/stage.ts';
import { useReceiver } from '../support/useReceiver.ts';
import { freePort } from '../support/freePort.ts';

const line = z.looseObject({ level: z.string(), message: z.string(), timestamp: z.string() });

/** Returns the ports on which a process listens. Linux only. */
function portsOf(pid: number): readonly number[] {
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap(
      (name) => /^socket:\[(\d+)\]$/.exec(linkOf(`/proc/${pid}/fd/${name}`))?.[1] ?? [],
    ),
  );
  const listening = '0A';
  return readFileSync(`/proc/${pid}/net/tcp`, 'utf8')
    .split('\n')
    .slice(1)
    .map((text) => text.trim().split(/\s+/))
    .filter(({ 3: state, 9: inode = '' }) => state === listening && sockets.has(inode))
    .map(({ 1: address = '' }) => parseInt(address.split(':')[1] ?? '', 16));
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    // It was closed since.
    return '';
  }
}

describe.runIf(service.target === 'local')('a stage in a network', () => {
  const receiver = useReceiver();

  const stages: Stage[] = [];
  const folders: string[] = [];
  afterEach(async () => {
    for (const stage of stages.splice(0)) await stage.remove();
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  });
  const temporary = (): string => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-server-'));
    folders.push(folder);
    return folder;
  };
  const start = async (args: readonly string[], options: StageOptions = {}): Promise<Stage> => {
    const stage = await startStage({ ...options, args });
    stages.push(stage);
    return stage;
  };

  it('refuses private destinations, logs JSON lines without secrets, and writes files for its owner only', async () => {
    const stage = await start(['--host', '0.0.0.0', '--publish-port', '0'], {
      env: { POWERTOOLS_LOG_LEVEL: 'INFO' },
    });
    const { url, publishUrl = '', token, dataDir } = stage;
    expect((await call('/v2/ready', {}, url)).json).toEqual({ status: 'ready' });
    for (const to of [receiver.inbox().url, 'http://10.0.0.7/', 'http://169.254.169.254/latest/meta-data']) {
      const refused = await publish(to, { url, token });
      expect(refused.status).toBe(403);
      expect(errorOf(refused)).toMatch(/public|reach/);
    }
    const init = { url: publishUrl, token, headers: { 'Svc-Delay': '1h' }, body: 'secret-body' };
    messageIdOf(await publish('https://example.com/secret-path?q=secret-query', init));
    expect((await call('/v2/logs?svc_token=secret-token', {}, publishUrl)).status).toBe(401);
    expect(await stage.stop()).toBe(0);
    const lines = stage
      .output()
      .trim()
      .split('\n')
      .map((text) => line.parse(JSON.parse(text)));
    const secrets = [token, stage.management.password, stage.currentSigningKey];
    for (const secret of secrets) expect(stage.output()).not.toContain(secret);
    const requests = lines.filter(({ message }) => message === 'request');
    const common = { level: 'INFO', requestId: expect.any(String) as string, ip: '127.0.0.1' };
    expect(requests).toMatchObject([
      { ...common, method: 'POST', resource: '/v2/publish/{destination+}', status: 200 },
      { ...common, method: 'GET', status: 401 },
    ]);
    expect(JSON.stringify(requests)).not.toMatch(/secret|example\.com|Bearer|eyJ/);
    for (const name of ['store.mdb', 'env', 'master-secret', 'management-password']) {
      expect(statSync(join(dataDir, name)).mode & 0o077, name).toBe(0);
    }
  });

  it('behind a proxy, whose word about clients it trusts, delivers to an allowed network, but never to itself', async () => {
    const port = await freePort();
    const publicUrl = 'https://queue.acme.example';
    const stage = await start(
      [
        ...['--public-url', publicUrl, '--trusted-proxy', '127.0.0.1'],
        ...['--allowed-destinations', '127.0.0.0/8,localhost'],
      ],
      { port },
    );
    expect(stage.url).toBe(publicUrl);
    const { token, dataDir } = stage;
    const url = `http://127.0.0.1:${port}`;
    const inbox = receiver.inbox();
    const forwarded = { 'X-Forwarded-For': '10.1.1.1, 203.0.113.9', 'X-Forwarded-Proto': 'https' };
    messageIdOf(await publish(inbox.url, { url, token, headers: forwarded }));
    const [delivery] = await inbox.received(1);
    expect(delivery?.headers['svc-caller-ip']).toBe('203.0.113.9');
    expect(errorOf(await publish(`${publicUrl}/v2/health`, { url, token }))).toContain('queue.acme.example');
    const ports = portsOf(stage.pid);
    expect(ports.length).toBeGreaterThan(5);
    const control = z
      .object({ url: z.url() })
      .parse(JSON.parse(readFileSync(join(dataDir, 'control'), 'utf8')));
    const others = ports.map((own) => `http://127.0.0.1:${own}/`);
    for (const own of [...others, control.url, `${url}/v2/health`])
      expect((await publish(own, { url, token })).status).toBe(403);
  });

  it('is below a path of a shared host, whether or not its proxy passes the path on', async () => {
    const port = await freePort();
    const publicUrl = 'http://acme.example/queue';
    const allowed = '127.0.0.0/8,localhost,acme.example';
    const stage = await start(['--public-url', publicUrl, '--allowed-destinations', allowed], { port });
    expect(stage.url).toBe(publicUrl);
    const { token } = stage;
    for (const path of ['/queue', '']) {
      const url = `http://127.0.0.1:${port}${path}`;
      const deferred = receiver.inbox((_delivery, response) => response.writeHead(202).end());
      messageIdOf(await publish(deferred.url, { url, token, headers: { 'Svc-Deferred': '1h' } }));
      const [delivery] = await deferred.received(1);
      const completeUrl = delivery?.headers['svc-complete-url'] ?? '';
      expect(completeUrl).toMatch(/^http:\/\/acme\.example\/queue\/v2\/complete\//);
      const completed = await fetch(completeUrl.replace(publicUrl, url), {
        method: 'POST',
        body: '{"status":200}',
      });
      expect(completed.status).toBe(200);
      const console = await fetch(`${url}/console`);
      expect([console.status, await console.text()]).toEqual([200, expect.stringContaining('<script')]);
      expect((await call('/v2/openapi.json', {}, url)).json).toMatchObject({ servers: [{ url: '/queue' }] });
      const refused = await call('/v2/messages', {}, url);
      expect(refused.headers.get('link')).toBe(
        `<${publicUrl}/console/errors.html#token_missing>; rel="help"`,
      );
    }
    // The rest of the host belongs to others, and may be a destination.
    const init = { url: `http://127.0.0.1:${port}`, token, headers: { 'Svc-Delay': '1h' } };
    for (const path of ['', '/hooks/queue', '/queues'])
      messageIdOf(await publish(`http://acme.example${path}`, init));
    for (const path of ['/queue', '/queue/v2/publish/x', '//queue/', '/hooks/../queue', '/%71ueue?a=b'])
      expect((await publish(`http://acme.example${path}`, init)).status).toBe(403);
  });

  it('uses TLS with its certificate', async () => {
    const folder = temporary();
    const certFile = join(folder, 'cert.pem');
    const keyFile = join(folder, 'key.pem');
    const subject = ['-subj', '/CN=queue.acme.example', '-addext', 'subjectAltName=IP:127.0.0.1'];
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
        ...['-keyout', keyFile, '-out', certFile, '-days', '2', ...subject],
      ],
      { stdio: 'ignore' },
    );
    const { url, publishUrl, token } = await start([
      ...['--tls-cert', certFile, '--tls-key', keyFile, '--publish-port', '0'],
    ]);
    expect(url).toMatch(/^https:/);
    const dispatcher = new Agent({ connect: { ca: readFileSync(certFile) } });
    const inbox = receiver.inbox();
    for (const base of [url, publishUrl ?? '']) {
      const answer = await fetchTls(`${base}/v2/publish/${inbox.url}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        dispatcher,
      });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('strict-transport-security')).toBe('max-age=31536000');
    }
    await inbox.received(2);
    await dispatcher.close();
    writeFileSync(keyFile, 'no key');
    const flags = [
      ...['--port', '0', '--data-dir', join(folder, 'data')],
      ...['--tls-cert', certFile, '--tls-key', keyFile],
    ];
    const refused = await runStage(flags);
    expect(await refused.exited).toBe(2);
    expect(refused.output()).toMatch(
      /^--tls-cert \S+ and --tls-key \S+ are not a certificate and its key, both PEM: /,
    );
  });

  it('does not start with a password that can be guessed', async () => {
    const dataDir = temporary();
    writeFileSync(join(dataDir, 'management-password'), 'secret');
    const refused = await runStage(['--port', '0', '--data-dir', dataDir, '--host', '0.0.0.0']);
    expect(await refused.exited).toBe(2);
    expect(refused.output()).toContain(
      'The secret management-password in the data directory can be guessed: with',
    );
  });
});
