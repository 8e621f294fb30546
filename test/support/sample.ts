/**
 * Some tests try thousands of generated inputs, kill a process at each of its calls, or let days pass. An ordinary run takes a
 * sample of that; `SVC_TESTS=thorough npm test` takes all.
 */
const isThorough = process.env['SVC_TESTS'] === 'thorough';

/** A tenth of the inputs, or all of them. */
export const sampleOf = (all: number): number => (isThorough ? all : Math.ceil(all / 10));

/**
 * Takes one of so many, from the first on, and the last: the same in each run.
 *
 * @param every one of five in an ordinary run and each in a thorough one, unless each takes long
 */
export const spreadOf = <T>(all: readonly T[], every = { ordinary: 5, thorough: 1 }): readonly T[] =>
  all.filter((_, index) => index % sizeOf(every) === 0 || index === all.length - 1);

/** The smaller of two sizes in an ordinary run, if it shows the same as the larger one. */
export const sizeOf = ({ ordinary, thorough }: Readonly<Record<'ordinary' | 'thorough', number>>): number =>
  isThorough ? thorough : ordinary;
