import { expect, it, onTestFinished, vi } from 'vitest';
import { limitForManyDeathsMs } from './limits.ts';
import { spreadOf } from './sample.ts';

/**
 * Faults between the service and AWS: dying processes, refused calls, lost answers, outages. A declared fault that never occurs
 * fails its test, because it has proved nothing.
 */

export class Tally<Kind extends string> {
  readonly #counts: Map<Kind, number>;

  /** @param kinds all kinds that must occur; others are only printed */
  constructor(kinds: readonly Kind[] = []) {
    this.#counts = new Map(kinds.map((kind) => [kind, 0]));
  }

  count(kind: Kind, times = 1): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + times);
  }

  add(other: Tally<Kind>): void {
    for (const [kind, times] of other.#counts) this.count(kind, times);
  }

  get missing(): readonly Kind[] {
    return [...this.#counts].flatMap(([kind, times]) => (times === 0 ? [kind] : []));
  }

  get text(): string {
    return [...this.#counts].map(([kind, times]) => `${kind} ${times}`).join(', ');
  }
}

/**
 * Declares a fault of the running test. The test fails if the fault never occurs.
 *
 * @returns a function to call at each occurrence
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
 * Prints how often random faults occurred, and expects each kind at least once.
 *
 * @param isWhole whether all runs were made; a single run, repeated from its seed, may lack some kinds
 */
export function expectFaults(title: string, faults: Tally<string>, isWhole = true): void {
  process.stdout.write(`Faults of ${title}: ${faults.text}.\n`);
  if (isWhole) expect(faults.missing, `the kinds of faults that never came: ${title}`).toEqual([]);
}

type When = 'before' | 'after';

export interface FateOptions {
  /** The number of the AWS call at which it occurs, from 1. */
  readonly call: number;
  /** Whether it occurs before the call is made, or after it was made and before its answer arrives. */
  readonly when: When;
  /** If true, only this call fails, and the process survives. */
  readonly survived?: boolean;
}

let fates = 0;

/** The fate of a process: it dies at one of its AWS calls. Calls are numbered when they are issued. */
export class Fate {
  readonly #options: FateOptions | undefined;
  readonly #operations: string[] = [];
  #hasCome = false;
  /** A unique text for ids. */
  readonly name: string;

  /** @param options undefined for a process that only counts its calls */
  constructor(options?: FateOptions) {
    this.#options = options;
    fates += 1;
    this.name = `fate-${fates}`;
  }

  /** The moment of death, if any. */
  get comesAt(): FateOptions | undefined {
    return this.#options;
  }

  get calls(): number {
    return this.#operations.length;
  }

  /** The operation of the fatal call, once it was issued. */
  get operation(): string | undefined {
    return this.#operations[(this.#options?.call ?? 0) - 1];
  }

  get hasCome(): boolean {
    return this.#hasCome;
  }

  /** Whether the process is dead, so that no later calls are made. */
  get isDeath(): boolean {
    return this.#hasCome && this.#options?.survived !== true;
  }

  /**
   * Numbers a call that is issued.
   *
   * @returns whether the fate occurs now; call it before the call is made, and again when it has an answer or an error
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

  /** The moment in words, for error messages. */
  get text(): string {
    const { call, when } = this.#options ?? { call: 0, when: 'never' };
    return `${when} call ${call}, ${this.operation ?? 'which was not made'}`;
  }
}

export class Death extends Error {}

/**
 * Makes a call of a process with a fate, or fails it when the fate occurs.
 *
 * @param refuse called before the call; throws if the call fails for another reason
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
  // A concurrent call may have killed the process.
  if (comes?.('after') === true || hasDied(fate)) throw new Death();
  if (result.status === 'rejected') throw result.reason;
  return result.value;
}

const hasDied = (fate: Fate | undefined): boolean => fate?.isDeath === true;

/** A fate of the running test. The test fails if it never occurs. */
export function fateAt(options: FateOptions): Fate {
  const fate = new Fate(options);
  onTestFinished(() => {
    expect(fate.hasCome, `whether the death of this test came: ${fate.text}`).toBe(true);
  });
  return fate;
}

export interface DeathOptions {
  /** See {@link spreadOf}. Odd, so that `before` and `after` alternate. */
  readonly every?: Parameters<typeof spreadOf>[1];
  /** See {@link FateOptions.survived}. */
  readonly survived?: boolean;
}

/**
 * The behaviour under test with all checks, in a process with a fate. It runs often, so names must include {@link Fate.name}.
 */
type Way = (fate: Fate) => Promise<void>;

/**
 * Declares a test that first counts the AWS calls of a behaviour, and then repeats it with a death at each moment: before each
 * call, and after it but before its answer arrives. A run that takes samples takes some of these moments, drawn by the commit.
 *
 * `DEATH="before 7"` only tries this death.
 */
export function itAtEachDeath(title: string, way: Way, options: DeathOptions = {}): void {
  it(title, { timeout: limitForManyDeathsMs }, async ({ annotate }) => {
    await annotate(await atEachDeath(way, options));
  });
}

/** @returns the deaths that occurred, by kind */
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
  throw new Error(
    `${failures.length} of ${taken.length} deaths did harm; DEATH='before 7' repeats that one:\n${texts}`,
    { cause: first.error },
  );
}

const textOf = (fate: Fate, error: unknown): string =>
  `${fate.text}: ${(error instanceof Error ? error.message : String(error)).split('\n', 1).join('')}`;

/** How often a death is tried again, if it was to be later than the last call. */
const mostTimes = 5;

/**
 * Runs a behaviour in a process that dies. If it makes fewer calls than counted, because more changes shared a call, the next
 * try dies earlier, so that each chosen death occurs.
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
