/**
 * `promtool`, which checks Prometheus's text format: from the PATH, or from Debian's package `prometheus`, which is unpacked
 * below `.cache` once, without root.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { limitForInstallsMs } from './limits.ts';

const home = resolve(import.meta.dirname, '../../.cache/prometheus');

const isThere = (command: string): boolean => spawnSync(command, ['--version']).status === 0;

/** @returns its path; undefined if the machine has neither it nor Debian's packages */
export function findPromtool(): string | undefined {
  if (isThere('promtool')) return 'promtool';
  const unpacked = join(home, 'usr/bin/promtool');
  if (existsSync(unpacked)) return unpacked;
  if (!isThere('apt-get') || !isThere('dpkg')) return undefined;
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home, { recursive: true });
  const options = { cwd: home, timeout: limitForInstallsMs, stdio: 'ignore' } as const;
  execFileSync('apt-get', ['download', 'prometheus'], options);
  const [archive = ''] = readdirSync(home).filter((name) => name.endsWith('.deb'));
  execFileSync('dpkg', ['-x', archive, '.'], options);
  return unpacked;
}

/** Checks a text like `promtool check metrics`. @returns its findings, if any */
export function checkMetrics(promtool: string, text: string): string {
  const { status, stdout, stderr } = spawnSync(promtool, ['check', 'metrics'], {
    input: text,
    encoding: 'utf8',
  });
  const found = `${stdout}${stderr}`.trim();
  return status === 0 ? found : `${found} (status ${String(status)})`;
}
