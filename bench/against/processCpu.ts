/** The CPU time of a process and its descendants. */
import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts hundredths of a second here ("man 5 proc": USER_HZ). */
const msOfTick = 10;

interface ProcessTimes {
  readonly parent: number;
  /** Includes children that have ended. */
  readonly cpuMs: number;
}

/**
 * @param roots process ids
 * @returns milliseconds in user and system mode; undefined without `/proc`
 */
export function cpuMsOf(roots: readonly number[]): number | undefined {
  if (process.platform !== 'linux') return undefined;
  const all = new Map<number, ProcessTimes>();
  for (const name of readdirSync('/proc')) {
    const times = /^\d+$/.test(name) ? timesOf(name) : undefined;
    if (times !== undefined) all.set(Number(name), times);
  }
  const isWanted = (pid: number): boolean =>
    roots.includes(pid) || (all.has(pid) && isWanted(all.get(pid)?.parent ?? 0));
  return [...all].reduce((sum, [pid, { cpuMs }]) => sum + (isWanted(pid) ? cpuMs : 0), 0);
}

function timesOf(pid: string): ProcessTimes | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH'))
      return undefined;
    throw error;
  }
  // The second field is the command in parentheses, with any characters. The four times begin with the 14th field.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, text) => sum + Number(text), 0);
  return { parent: Number(fields[1]), cpuMs: ticks * msOfTick };
}
