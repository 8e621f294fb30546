/** A check is one record of a table: what it is called, what it shows, and what to do when it falls short. */

export interface Check<C> {
  /** The word by which `--only` picks it. */
  readonly name: string;
  /** A sentence that is true when the check is good. */
  readonly shows: string;
  /** A sentence that says what to do when the check is not good. */
  readonly remedy: string;
  /** Whether it takes longer than five minutes or loads the deployment, so that it is made only with `--slow` or by its name. */
  readonly isSlow?: true;
  /** Why an emulator of AWS cannot show it; absent where it can. */
  readonly notOnEmulator?: string;
  /**
   * @returns what was seen
   * @throws Shortfall with what is not as it has to be, and Skipped where there is nothing to check; any other error counts as the first
   */
  readonly run: (context: C) => Promise<string>;
}

/** The check has seen something else than what has to be. Its message is a sentence for the operator. */
export class Shortfall extends Error {}

/** There is nothing to check. Its message is the reason. */
export class Skipped extends Error {}

/** @throws Shortfall unless it holds */
export function expectThat(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Shortfall(otherwise);
}

export interface Outcome {
  readonly check: string;
  readonly region: string;
  readonly result: 'good' | 'short' | 'skipped';
  /** A sentence that says what the check saw, or why it was skipped. */
  readonly seen: string;
  /** A sentence that says what to do, where the check falls short. */
  readonly remedy?: string;
}

/** Whether the command ends well: something was checked, and nothing falls short. */
export const isGood = (outcomes: readonly Outcome[]): boolean =>
  outcomes.some(({ result }) => result === 'good') && outcomes.every(({ result }) => result !== 'short');

const sentenceOf = (error: unknown): string =>
  error instanceof Error
    ? `${error instanceof Shortfall || error.name === 'Error' ? '' : `${error.name}: `}${error.message}`
    : String(error);

/** Runs a check and records its outcome. */
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
