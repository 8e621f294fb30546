/** The findings of a mutation run, as Stryker writes them and as they are printed. */
import * as z from 'zod/mini';
import { formatTable } from '../../bench/table.ts';

const place = z.object({ line: z.number(), column: z.number() });
const mutantShape = z.object({
  status: z.enum([
    'Killed',
    'Timeout',
    'Survived',
    'NoCoverage',
    'RuntimeError',
    'CompileError',
    'Ignored',
    'Pending',
  ]),
  mutatorName: z.string(),
  replacement: z.optional(z.string()),
  location: z.object({ start: place, end: place }),
});

/** The part of Stryker's report that is used here: https://github.com/stryker-mutator/mutation-testing-elements */
export const reportShape = z.object({
  files: z.record(z.string(), z.object({ source: z.string(), mutants: z.array(mutantShape) })),
});

export type Report = z.infer<typeof reportShape>;
type Mutant = z.infer<typeof mutantShape>;

export interface Score {
  readonly killed: number;
  readonly survived: number;
  readonly uncovered: number;
}

/**
 * Counts mutants. An endless loop counts as killed, because its test would fail. Mutants that cannot run, or that run only
 * while a module loads, don't count.
 */
function scoreOf(mutants: readonly Mutant[]): Score {
  const count = (...statuses: readonly Mutant['status'][]): number =>
    mutants.filter(({ status }) => statuses.includes(status)).length;
  return { killed: count('Killed', 'Timeout'), survived: count('Survived'), uncovered: count('NoCoverage') };
}

const all = ({ killed, survived, uncovered }: Score): number => killed + survived + uncovered;

/** @returns the percentage of all mutants, including those that no test runs; undefined without mutants */
export const percentOf = (score: Score): number | undefined =>
  all(score) === 0 ? undefined : (100 * score.killed) / all(score);

/** @returns the score of all files together */
export const totalOf = ({ files }: Report): Score =>
  scoreOf(Object.values(files).flatMap(({ mutants }) => mutants));

const rowOf = (name: string, score: Score): readonly string[] => [
  name,
  ...[score.killed, score.survived, score.uncovered].map(String),
  percentOf(score)?.toFixed(1) ?? '-',
];

/** Makes the table of files, lowest score last, where it is seen. */
export function scoreTable(report: Report): string {
  const scores = Object.entries(report.files).map(([name, { mutants }]) => ({
    name,
    score: scoreOf(mutants),
  }));
  const sorted = scores.toSorted(
    (one, other) => (percentOf(other.score) ?? 100) - (percentOf(one.score) ?? 100),
  );
  return formatTable(
    ['file', 'killed', 'survived', 'no coverage', '%'],
    [...sorted.map(({ name, score }) => rowOf(name, score)), rowOf('all', totalOf(report))],
  );
}

/** Makes a line or two for each mutant that no test notices. */
export const survivorLines = ({ files }: Report): readonly string[] =>
  Object.entries(files).flatMap(([name, { source, mutants }]) =>
    mutants
      .filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
      .map((mutant) => {
        const { start } = mutant.location;
        const isCovered = mutant.status === 'Survived';
        const where = `${name}:${start.line}:${start.column} ${mutant.mutatorName}${isCovered ? '' : ', no test runs it'}`;
        return `${where}\n  - ${oneLine(cut(source, mutant))}\n  + ${oneLine(mutant.replacement ?? '')}`;
      }),
  );

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ');

/** The text that a mutant replaces. Lines and columns count from 1; the end is exclusive. */
function cut(source: string, { location: { start, end } }: Mutant): string {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  const last = lines.length - 1;
  return lines
    .map((line, index) =>
      line.slice(index === 0 ? start.column - 1 : 0, index === last ? end.column - 1 : undefined),
    )
    .join('\n');
}
