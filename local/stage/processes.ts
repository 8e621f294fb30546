/** Identifies a process by its number and start, because numbers are used again. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import * as z from 'zod/mini';
import { isSystemError } from './stageError.ts';

export const processIdentity = z.object({
  pid: z.int().check(z.gte(1)),
  /**
   * As the operating system writes it. On Linux it is relative to the start of the machine, which is
   * included.
   */
  startedAt: z.string(),
});
type ProcessIdentity = z.infer<typeof processIdentity>;

/** @returns undefined if the process is not running, or is a zombie */
export function identify(pid: number): ProcessIdentity | undefined {
  const startedAt = (startOn[process.platform] ?? startElsewhere)(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

export function isRunning(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.startedAt === identity.startedAt;
}

const startOn: Partial<Record<NodeJS.Platform, (pid: number) => string | undefined>> = {
  linux: startOnLinux,
  win32: startOnWindows,
};

function startOnLinux(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is the command in parentheses, which may contain any characters. The third is the
    // state, the 22nd the start.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${fields[19] ?? ''}`;
  } catch (error) {
    // ESRCH means that the process ended after the file was opened.
    if (isSystemError(error, 'ENOENT') || isSystemError(error, 'ESRCH')) return undefined;
    throw error;
  }
}

function startElsewhere(pid: number): string | undefined {
  const format = ['-o', 'stat=', '-o', 'lstart=', '-p', String(pid)];
  try {
    const line = execFileSync('ps', format, {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C' },
    }).trim();
    const [state = '', ...start] = line.split(/\s+/);
    return state.startsWith('Z') ? undefined : start.join(' ');
  } catch (error) {
    // `ps` exits with 1 if the process does not exist.
    if (error instanceof Error && 'status' in error && error.status === 1) return undefined;
    throw error;
  }
}

function startOnWindows(pid: number): string | undefined {
  const script = `Get-Process -Id ${pid} -ErrorAction SilentlyContinue | ForEach-Object { $_.StartTime.ToFileTimeUtc() }`;
  const args = ['-NoProfile', '-NonInteractive', '-Command', `${script}; exit 0`];
  const printed = execFileSync('powershell.exe', args, { encoding: 'utf8', windowsHide: true }).trim();
  return printed === '' ? undefined : printed;
}
