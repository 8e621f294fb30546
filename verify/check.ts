/** A check: its name, what it shows, and what to do if it fails. */

export interface Check<C> {
  /** The name for `--only`. */
  readonly name: string;
  readonly shows: string;
  /** A sentence that says what to do if the check fails. */
  readonly remedy: string;
  /** Whether it takes over five minutes or loads the deployment, and runs only with `--slow` or by name. */
  readonly isSlow?: true;
  /** Why the check cannot run on an emulator, if it cannot. */
  readonly notOnEmulator?: string;
  /**
   * @returns what was seen
   * @throws Shortfall with what is wrong, and Skipped if there is nothing to check; other errors count as Shortfall
   */
  readonly run: (context: C) => Promise<string>;
}

/** The check failed. The message is a sentence for the operator. */
export class Shortfall extends Error {}

/** There is nothing to check. The message is the reason. */
export class Skipped extends Error {}

export function expectThat(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Shortfall(otherwise);
}

/** @throws Shortfall with the sentence about what is wrong, if something is */
export function expectNone(wrong: readonly string[], sentence: (list: string) => string): void {
  expectThat(wrong.length === 0, sentence(wrong.join('; ')));
}

export interface Outcome {
  readonly check: string;
  readonly region: string;
  readonly result: 'good' | 'short' | 'skipped';
  /** A sentence: what the check saw, or why it was skipped. */
  readonly seen: string;
  /** A sentence that says what to do if the check failed. */
  readonly remedy?: string;
}

/** Whether the command succeeds: something was checked, and nothing failed. */
export const isGood = (outcomes: readonly Outcome[]): boolean =>
  outcomes.some(({ result }) => result === 'good') && outcomes.every(({ result }) => result !== 'short');

const sentenceOf = (error: unknown): string =>
  error instanceof Error
    ? `${error instanceof Shortfall || error.name === 'Error' ? '' : `${error.name}: `}${error.message}`
    : String(error);

export async function runCheck<C extends { readonly region: string; readonly isEmulator: boolean }>(
  { name, remedy, notOnEmulator, run }: Check<C>,
  context: C,
): Promise<Outcome> {
  const { region } = context;
  if (context.isEmulator && notOnEmulator !== undefined)
    return { check: name, region, result: 'skipped', seen: notOnEmulator };
  try {
    return { check: name, region, result: 'good', seen: await run(context) };
  } catch (error) {
    if (error instanceof Skipped) return { check: name, region, result: 'skipped', seen: error.message };
    return { check: name, region, result: 'short', seen: sentenceOf(error), remedy };
  }
}
