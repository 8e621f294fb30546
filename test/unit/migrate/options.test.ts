import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Ending } from '../../../cli/commandLine.ts';
import { parseOptions } from '../../../migrate/options.ts';

const nowhere = { SVC_DATA_DIR: join(tmpdir(), 'no-such-folder') };
const both = {
  ...nowhere,
  QSTASH_URL: 'https://source.example/',
  QSTASH_TOKEN: 'a',
  SVC_URL: 'https://target.example/v',
  SVC_TOKEN: 'b',
};

it('variables name the source and the target, and flags override them', () => {
  expect(parseOptions([], both)).toEqual({
    from: { url: 'https://source.example', token: 'a' },
    to: { url: 'https://target.example/v', token: 'b' },
    task: 'copy',
    apply: false,
    overwrite: false,
    paused: false,
  });
  const flags = ['--from-url=http://x', '--from-token=c', '--to-url', 'http://y', '--to-token', 'd'];
  expect(parseOptions([...flags, '--apply', '--paused', '--overwrite'], both)).toEqual({
    from: { url: 'http://x', token: 'c' },
    to: { url: 'http://y', token: 'd' },
    task: 'copy',
    apply: true,
    overwrite: true,
    paused: true,
  });
});

it('the hosted service is the default source, and the local stage the default target', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-env-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  writeFileSync(join(folder, 'env'), 'SVC_URL=http://127.0.0.1:8080\nSVC_TOKEN=local=\n');
  expect(parseOptions(['--switch'], { QSTASH_TOKEN: 'a', SVC_DATA_DIR: folder })).toMatchObject({
    from: { url: 'https://qstash.upstash.io', token: 'a' },
    to: { url: 'http://127.0.0.1:8080', token: 'local=' },
    task: 'switch',
  });
});

it.each([
  [[], nowhere, '--from-token is missing; give it, or set QSTASH_TOKEN.'],
  [[], { ...both, SVC_TOKEN: '' }, '--to-token is missing; give it, or set SVC_TOKEN.'],
  [
    ['--from-url', 'qstash'],
    both,
    '--from-url is not the URL of an API; allowed is one that starts with http',
  ],
  [['--to-url', 'https://u:p@x'], both, '--to-url is not the URL of an API;'],
  [
    ['--to-url', 'https://source.example', '--to-token', 'a'],
    both,
    'The source and the target are the same account',
  ],
  [['--switch', '--paused'], both, "Option '--switch' cannot be used with option '--paused';"],
  [['--aply'], both, "Unknown option '--aply'; --help lists the flags."],
])('%j is refused with one sentence', (args, environment, message) => {
  expect(() => parseOptions(args, environment)).toThrow(Ending);
  expect(() => parseOptions(args, environment)).toThrow(message);
  expect(() => parseOptions(args, environment)).not.toThrow('\n');
});
