/** The writes of processes to a file, recorded by `writeLog.c`, and what a loss of power leaves of them. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const kinds = ['write', 'sync', 'truncate', 'mark'] as const;

export interface Noted {
  readonly kind: (typeof kinds)[number];
  /** Whether it was on the disk when the call returned. */
  readonly isSynced: boolean;
  /** The offset of a write, or a file's new length. */
  readonly offset: number;
  readonly bytes: Buffer;
}

/** Whether writes can be recorded on this machine. */
export function canWatch(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    execFileSync('gcc', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export interface Watch {
  readonly env: Readonly<Record<string, string>>;
  /** The folder of the log. */
  readonly log: string;
  /** The file that the process writes marks to. */
  readonly marks: string;
}

/** Prepares the recording of processes, in a folder, and deletes the last one. @param name the prefix of recorded files */
export function watchWrites(folder: string, name: string): Watch {
  const library = join(folder, 'writeLog.so');
  const source = join(import.meta.dirname, 'writeLog.c');
  execFileSync('gcc', ['-O2', '-shared', '-fPIC', '-o', library, source, '-ldl', '-lpthread']);
  const [log, marks] = [join(folder, 'writes'), join(folder, 'marks')];
  rmSync(log, { recursive: true, force: true });
  mkdirSync(log);
  const env = { LD_PRELOAD: library, SVC_WRITE_LOG: log, SVC_WRITE_NAME: name, SVC_WRITE_MARKS: marks };
  return { env, log, marks };
}

const headBytes = 32;
const kindOfMark = kinds.indexOf('mark') + 1;

/** Notes that something happened outside the recorded processes. */
export function noteMark(log: string, text: string): void {
  const head = Buffer.alloc(headBytes);
  head.writeUInt32LE(kindOfMark, 0);
  head.writeBigUInt64LE(BigInt(Buffer.byteLength(text)), 16);
  appendFileSync(join(log, '0'), text);
  appendFileSync(join(log, 'log'), head);
}

export function readLog(log: string): readonly Noted[] {
  const heads = readFileSync(join(log, 'log'));
  const contents = new Map<number, Buffer>();
  return Array.from({ length: heads.length / headBytes }, (_, number) => {
    const head = heads.subarray(number * headBytes);
    const kind = kinds[head.readUInt32LE(0) - 1];
    if (kind === undefined) throw new Error('The log of writes has an unknown record.');
    const [offset, length] = [Number(head.readBigUInt64LE(8)), Number(head.readBigUInt64LE(16))];
    const process = head.readUInt32LE(24);
    const rest = contents.get(process) ?? readFileSync(join(log, String(process)));
    const bytes = rest.subarray(0, length);
    contents.set(process, rest.subarray(bytes.length));
    return { kind, isSynced: head.readUInt32LE(4) === 1, offset, bytes };
  });
}

/** The fate of writes that are not on the disk: a random share of their units is kept. */
export interface Fate {
  /** From 0 to 1. */
  readonly kept: number;
  /** Bytes that are kept or lost together: a sector, a page, or a whole write. */
  readonly unitBytes: number;
  readonly random: () => number;
}

/** A file on a disk that may lose power. */
export class CutDisk {
  #safe: Buffer;
  /** Everything since the last flush, in order. */
  #recent: Noted[] = [];

  constructor(before: Buffer) {
    this.#safe = Buffer.from(before);
  }

  /** Applies a record of the log. */
  take(noted: Noted): void {
    if (noted.kind === 'sync') {
      for (const one of this.#recent) this.#safe = withAll(this.#safe, one);
      this.#recent = [];
    } else if (noted.kind !== 'mark') {
      this.#recent.push(noted);
    }
  }

  /**
   * Cuts the power.
   *
   * @param current the record of a call that has not returned
   * @returns the file, and how many of its units are lost
   */
  cut(fate: Fate, current?: Noted): { readonly bytes: Buffer; readonly lost: number } {
    let bytes: Buffer = Buffer.from(this.#safe);
    let lost = 0;
    const keeps = (): boolean => {
      const isKept = fate.random() < fate.kept;
      if (!isKept) lost += 1;
      return isKept;
    };
    const isWrite = current?.kind === 'write' || current?.kind === 'truncate';
    for (const noted of [...this.#recent, ...(isWrite ? [{ ...current, isSynced: false }] : [])]) {
      if (noted.isSynced) bytes = withAll(bytes, noted);
      else if (noted.kind === 'truncate') bytes = keeps() ? withAll(bytes, noted) : bytes;
      else for (const unit of unitsOf(noted, fate.unitBytes)) if (keeps()) bytes = withAll(bytes, unit);
    }
    return { bytes, lost };
  }
}

function withAll(file: Buffer, { kind, offset, bytes }: Noted): Buffer {
  const length = kind === 'truncate' ? offset : Math.max(file.length, offset + bytes.length);
  const grown = length === file.length ? file : Buffer.alloc(length);
  if (grown !== file) file.copy(grown);
  if (kind === 'write') bytes.copy(grown, offset);
  return grown;
}

/** Splits a write at the disk's units. */
function unitsOf(noted: Noted, unitBytes: number): readonly Noted[] {
  const units: Noted[] = [];
  const end = noted.offset + noted.bytes.length;
  for (let at = noted.offset; at < end;) {
    const next = Math.min(end, (Math.floor(at / unitBytes) + 1) * unitBytes);
    units.push({ ...noted, offset: at, bytes: noted.bytes.subarray(at - noted.offset, next - noted.offset) });
    at = next;
  }
  return units;
}
