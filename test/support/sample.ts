/**
 * Some tests try thousands of generated inputs, kill a process at each of its calls, or let days pass. By default a sample is
 * run; `SVC_TESTS=thorough npm test` runs everything.
 */
const isThorough = process.env['SVC_TESTS'] === 'thorough';

/** A tenth of the inputs, or all of them. */
export const sampleOf = (all: number): number => (isThorough ? all : Math.ceil(all / 10));

/**
 * Takes every nth item, the first, and the last: the same in each run.
 *
 * @param every every fifth item by default, and each in a thorough run
 */
export const spreadOf = <T>(all: readonly T[], every = { ordinary: 5, thorough: 1 }): readonly T[] =>
  all.filter((_, index) => index % sizeOf(every) === 0 || index === all.length - 1);

/** The smaller size by default, if it shows the same as the larger one. */
export const sizeOf = ({ ordinary, thorough }: Readonly<Record<'ordinary' | 'thorough', number>>): number =>
  isThorough ? thorough : ordinary;
