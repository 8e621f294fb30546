import { expect, it, onTestFinished, vi } from 'vitest';
import { limitForManyDeathsMs } from './limits.ts';
import { spreadOf } from './sample.ts';

/**
 * Faults that tests put between the service and AWS: deaths of a process, refused calls, lost answers, outages. A declared fault
 * that met no call has proved nothing, so the test that declared it fails.
 */

/** Counts faults by their kinds. */
export class Tally<Kind extends string> {
  readonly #counts: Map<Kind, number>;

  /** @param kinds all kinds that must come. Other kinds that are counted are only printed */
  constructor(kinds: readonly Kind[] = []) {
    this.#counts = new Map(kinds.map((kind) => [kind, 0]));
  }

  count(kind: Kind, times = 1): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + times);
  }

  /** Adds the counts of another tally. */
  add(other: Tally<Kind>): void {
    for (const [kind, times] of other.#counts) this.count(kind, times);
  }

  /** The kinds that never came. */
  get missing(): readonly Kind[] {
    return [...this.#counts].flatMap(([kind, times]) => (times === 0 ? [kind] : []));
  }

  /** The kinds with their numbers. */
  get text(): string {
    return [...this.#counts].map(([kind, times]) => `${kind} ${times}`).join(', ');
  }
}

/**
 * Declares a fault of the running test, which fails at its end if the fault never came.
 *
 * @returns a function to call each time that the fault comes
 */
export function declareFault(what: string): () => void {
  let times = 0;
  onTestFinished(() => {
    expect(times, `how often a fault of this test came: ${what}`).toBeGreaterThan(0);
  });
  return () => {
    times += 1;
  };
}

/**
 * Prints how often random faults came, by their kinds, and expects each kind at least once.
 *
 * @param isWhole whether all runs were made; a single one that is repeated from its seed need not have all kinds
 */
export function expectFaults(title: string, faults: Tally<string>, isWhole = true): void {
  process.stdout.write(`Faults of ${title}: ${faults.text}.\n`);
  if (isWhole) expect(faults.missing, `the kinds of faults that never came: ${title}`).toEqual([]);
}

type When = 'before' | 'after';

/** The moment of a fate. */
export interface FateOptions {
  /** The AWS call at which it comes, the first being 1. */
  readonly call: number;
  /** Before the call is made, or after it was made but before its answer is seen. */
  readonly when: When;
  /** Whether only that one call fails and the process lives on. */
  readonly survived?: boolean;
}

let fates = 0;

/**
 * The fate of a process: it dies at one of its AWS calls. Each call gets its number when it is issued, and keeps it while others
 * are made at the same time.
 */
export class Fate {
  readonly #options: FateOptions | undefined;
  readonly #operations: string[] = [];
  #hasCome = false;
  /** A text for ids, unique to this fate. */
  readonly name: string;

  /** @param options undefined for a process that does not die: its calls are only counted */
  constructor(options?: FateOptions) {
    this.#options = options;
    fates += 1;
    this.name = `fate-${fates}`;
  }

  /** The moment of the death; undefined for a process that does not die. */
  get comesAt(): FateOptions | undefined {
    return this.#options;
  }

  /** The number of calls that were issued under it. */
  get calls(): number {
    return this.#operations.length;
  }

  /** The operation of the call at which it comes, once that call was issued. */
  get operation(): string | undefined {
    return this.#operations[(this.#options?.call ?? 0) - 1];
  }

  get hasCome(): boolean {
    return this.#hasCome;
  }

  /** Whether the process is dead: none of its later calls is made. */
  get isDeath(): boolean {
    return this.#hasCome && this.#options?.survived !== true;
  }

  /**
   * Gives a call that is issued its number.
   *
   * @returns whether the fate comes now; call it before the call is made, and when it has an answer or an error
   */
  meet(operation: string): (when: When) => boolean {
    this.#operations.push(operation);
    const mine = this.#operations.length;
    return (when) => {
      const at = this.#options;
      if (this.#hasCome || at?.call !== mine || at.when !== when) return false;
      this.#hasCome = true;
      return true;
    };
  }

  /** The moment in words, for the message of a failed test. */
  get text(): string {
    const { call, when } = this.#options ?? { call: 0, when: 'never' };
    return `${when} call ${call}, ${this.operation ?? 'which was not made'}`;
  }
}

/** The error of a dead process: this call, and every call after it, fails. */
export class Death extends Error {}

/**
 * Makes a call of a process with a fate, or fails it when the fate comes.
 *
 * @param refuse is called before the call is made, and throws when the call fails for another reason
 */
export async function makeUnder<T>(
  fate: Fate | undefined,
  operation: string,
  make: () => Promise<T>,
  refuse: () => void = () => undefined,
): Promise<T> {
  if (hasDied(fate)) throw new Death();
  const comes = fate?.meet(operation);
  if (comes?.('before') === true) throw new Death();
  refuse();
  const [result] = await Promise.allSettled([make()]);
  // Another call that was under way may have been the last one of the process.
  if (comes?.('after') === true || hasDied(fate)) throw new Death();
  if (result.status === 'rejected') throw result.reason;
  return result.value;
}

const hasDied = (fate: Fate | undefined): boolean => fate?.isDeath === true;

/** A fate of the running test, which fails at its end if the fate never came. */
export function fateAt(options: FateOptions): Fate {
  const fate = new Fate(options);
  onTestFinished(() => {
    expect(fate.hasCome, `whether the death of this test came: ${fate.text}`).toBe(true);
  });
  return fate;
}

/** The deaths that a test tries. */
export interface DeathOptions {
  /** See {@link spreadOf}. Odd, so that `before` and `after` alternate. */
  readonly every?: Parameters<typeof spreadOf>[1];
  /** See {@link FateOptions.survived}. */
  readonly survived?: boolean;
}

/**
 * The behaviour under test with all its checks, in a process with a fate. It runs often: the things that it makes have names of
 * {@link Fate.name}.
 */
type Way = (fate: Fate) => Promise<void>;

/**
 * Declares a test that runs a behaviour in a process which does not die, to count its AWS calls, and then once for each moment at
 * which the process can die: before each call, and after it was made but before its answer is seen. A run that takes a sample
 * spreads fewer deaths over the calls, before one and after another, with the first and the last.
 *
 * `DEATH="before 7"` takes that one death alone.
 */
export function itAtEachDeath(title: string, way: Way, options: DeathOptions = {}): void {
  it(title, { timeout: limitForManyDeathsMs }, async ({ annotate }) => {
    await annotate(await atEachDeath(way, options));
  });
}

/** @returns the deaths that came, by their kinds */
async function atEachDeath(way: Way, { every, survived = false }: DeathOptions): Promise<string> {
  const counted = new Fate();
  await way(counted);
  vi.restoreAllMocks();
  expect(counted.calls, 'the AWS calls at which a process can die').toBeGreaterThan(0);
  const all = Array.from({ length: counted.calls }, (_, index) => index + 1).flatMap((call) =>
    (['before', 'after'] as const).map((when) => ({ call, when, survived })),
  );
  const only = process.env['DEATH'];
  const taken =
    only === undefined ? spreadOf(all, every) : all.filter(({ call, when }) => `${when} ${call}` === only);
  expect(taken.length, `deaths such as ${only ?? 'those of a sample'}`).toBeGreaterThan(0);
  const struck = new Tally<string>();
  const failures: { readonly text: string; readonly error: unknown }[] = [];
  for (const death of taken) {
    const { fate, error } = await meet(way, death);
    struck.count(`${death.when} ${fate.operation}`);
    if (error !== undefined) failures.push({ text: textOf(fate, error), error });
  }
  const [first] = failures;
  if (first === undefined) return `${taken.length} deaths came: ${struck.text}.`;
  const texts = failures.map(({ text }) => text).join('\n');
  throw new Error(`${failures.length} of ${taken.length} deaths did harm:\n${texts}`, { cause: first.error });
}

const textOf = (fate: Fate, error: unknown): string =>
  `${fate.text}: ${(error instanceof Error ? error.message : String(error)).split('\n', 1).join('')}`;

/** The most tries of a death that was beyond the calls of the previous run. */
const mostTimes = 5;

/**
 * Runs a behaviour in a process that dies. If it makes fewer calls than were counted, because more of its changes came together in
 * one call, the process dies at an earlier one in the next run: each chosen death comes.
 */
async function meet(
  way: Way,
  death: FateOptions,
): Promise<{ readonly fate: Fate; readonly error?: unknown }> {
  let { call } = death;
  for (let times = 0; times < mostTimes; times += 1) {
    const fate = new Fate({ ...death, call });
    try {
      await way(fate);
    } catch (error) {
      return { fate, error };
    } finally {
      vi.restoreAllMocks();
    }
    if (fate.hasCome) return { fate };
    call = Math.max(1, Math.min(call - 1, fate.calls - times));
  }
  throw new Error(`No process died ${death.when} call ${death.call}, nor before, in ${mostTimes} times.`);
}
