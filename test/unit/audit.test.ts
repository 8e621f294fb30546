import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { close, listen } from '../../local/http.ts';
import { complaintsAbout, readExceptions, readReport } from '../audit/judge.ts';

const root = resolve(import.meta.dirname, '../..');
const id = 'GHSA-aaaa-bbbb-cccc';
const advisory = {
  id: 1,
  url: `https://github.com/advisories/${id}`,
  title: 'Reads too much',
  severity: 'high',
  vulnerable_versions: '<99',
};

/** Starts a registry with known vulnerabilities by package. Without any it refuses to answer. */
async function startRegistry(advisories?: Readonly<Record<string, readonly unknown[]>>): Promise<string> {
  const { server, url } = await listen((request, response) => {
    request.resume();
    const answer = request.method === 'POST' ? advisories : { name: request.url?.slice(1), versions: {} };
    response.writeHead(answer === undefined ? 405 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? {}));
  });
  onTestFinished(() => close(server));
  return url;
}

/** Runs the audit without the project’s exceptions. */
function audit(registry: string): Promise<{ status: number; output: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-audit-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  const exceptions = join(folder, 'exceptions.json');
  writeFileSync(exceptions, '[]');
  return new Promise((ended) => {
    execFile(
      process.execPath,
      ['--import', 'tsx', 'test/audit/run.ts', exceptions],
      { cwd: root, env: { ...process.env, npm_config_registry: registry, npm_config_fetch_retries: '0' } },
      (error, stdout, stderr) => {
        ended({ status: typeof error?.code === 'number' ? error.code : 0, output: stdout + stderr });
      },
    );
  });
}

describe('npm run audit', () => {
  it('fails on a known vulnerability, and names it', async () => {
    const { status, output } = await audit(await startRegistry({ jsep: [advisory] }));
    expect(output).toContain(`${id} (high): jsep <99: Reads too much, ${advisory.url}`);
    expect(status).toBe(1);
  });

  it('passes if nothing is known', async () => {
    const { status, output } = await audit(await startRegistry({}));
    expect(output).toMatch(/^No package has a known vulnerability/);
    expect(status).toBe(0);
  });

  it('says in one sentence that the registry gave no answer, and passes', async () => {
    const { status, output } = await audit(await startRegistry());
    expect(output).toMatch(
      /^Known vulnerabilities were not looked for, because .*405 Method Not Allowed.*\n$/,
    );
    expect(status).toBe(0);
  });
});

describe('an exception', () => {
  const vulnerabilities = [{ id, text: `${id} (high): jsep` }];
  const reason = 'Only its server is affected, which is not used.';

  it('ignores a vulnerability until an exception’s last day', () => {
    const exceptions = readExceptions(JSON.stringify([{ id, reason, expires: '2026-12-31' }]));
    expect(complaintsAbout(vulnerabilities, exceptions, '2026-12-31')).toEqual([]);
    expect(complaintsAbout(vulnerabilities, exceptions, '2027-01-01')).toEqual([
      `${id} (high): jsep. Its exception has ended on 2026-12-31.`,
    ]);
  });

  it('is for one vulnerability', () => {
    const exceptions = [{ id: 'GHSA-dddd-eeee-ffff', reason, expires: '2026-12-31' }];
    expect(complaintsAbout(vulnerabilities, exceptions, '2026-12-01')).toEqual([
      `${id} (high): jsep`,
      expect.stringMatching(/^GHSA-dddd-eeee-ffff has an exception, but no installed package still has it/),
    ]);
  });

  it.each([
    [
      'an id of another kind',
      { id: 'CVE-2026-1', reason, expires: '2026-12-31' },
      /GHSA-xxxx-xxxx-xxxx.*\[0\]\.id/s,
    ],
    ['no reason', { id, reason: '', expires: '2026-12-31' }, /must say in a sentence why.*reason/s],
    ['no last day', { id, reason, expires: 'never' }, /must be a day.*expires/s],
    ['a misspelt field', { id, reason, expires: '2026-12-31', until: 'x' }, /"until"/],
  ])('with %s is refused', (_, one, says) => {
    expect(() => readExceptions(JSON.stringify([one]))).toThrow(says);
  });
});

it('npm’s own errors do not count as the registry’s answer', () => {
  const output = JSON.stringify({ error: { code: 'ENOLOCK', summary: 'This command requires a lockfile.' } });
  expect(() => readReport(output)).toThrow('ENOLOCK, This command requires a lockfile.');
});
