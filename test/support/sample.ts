/**
 * Some tests try thousands of generated inputs, kill a process at each of its calls, or let days pass. By default a sample is
 * run; `SVC_TESTS=thorough npm test` runs everything.
 */
const isThorough = process.env['SVC_TESTS'] === 'thorough';

/** Which sample of several a run takes: each commit has another one. `vitest.config.ts` draws it. */
const draw = Number(process.env['SVC_DRAW'] ?? 0);

/** A tenth of the inputs, or all of them. */
export const sampleOf = (all: number): number => (isThorough ? all : Math.ceil(all / 10));

/**
 * Takes every nth item, beginning with another one at each draw, so that a few commits take all.
 *
 * @param every every seventh item by default, and each in a thorough run
 */
export function spreadOf<T>(all: readonly T[], every = { ordinary: 7, thorough: 1 }): readonly T[] {
  const step = Math.min(sizeOf(every), all.length);
  return all.filter((_, index) => index % step === draw % step);
}

/** The smaller size by default, if it shows the same as the larger one. */
export const sizeOf = ({ ordinary, thorough }: Readonly<Record<'ordinary' | 'thorough', number>>): number =>
  isThorough ? thorough : ordinary;
