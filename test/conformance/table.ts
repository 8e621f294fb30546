/** Writes the results as a page of the documentation. */
import type { Client } from './clients.ts';
import type { Result } from './result.ts';

/** The results of all versions of a client, in the order of the versions. */
export interface Tested {
  readonly client: Client;
  readonly results: readonly (readonly Result[])[];
}

const head = `# Which clients work

Each operation of the published clients, in the oldest supported and in the newest version, unchanged. \`npm run conformance\` makes this
page by running them against the local stage; with \`--url\` and \`--token\` it runs them against any deployment.

\`–\`: that version does not offer the operation. A number: refused by design, for the reason below the tables.
`;

export function pageOf(all: readonly Tested[]): string {
  const reasons: string[] = [];
  const cell = (result: Result | undefined): string => {
    if (result === undefined) return 'did not run';
    const { outcome, reason = '' } = result;
    if (outcome === 'not offered') return '–';
    if (outcome !== 'refused') return outcome;
    if (!reasons.includes(reason)) reasons.push(reason);
    return String(reasons.indexOf(reason) + 1);
  };
  const sections = all.map(({ client: { name, registry, versions, why }, results }) => {
    const operations = [...new Set(results.flat().map(({ operation }) => operation))].toSorted();
    const rows = operations.map((operation) => [
      `\`${operation}\``,
      ...results.map((of) => cell(of.find((one) => one.operation === operation))),
    ]);
    const lines = [['', ...versions], versions.map(() => '---').concat('---'), ...rows];
    const title = registry === undefined ? `\`${name}\`` : `\`${name}\` (${registry})`;
    return `## ${title}\n\n${why}\n\n${lines.map((line) => `| ${line.join(' | ')} |\n`).join('')}`;
  });
  const refusals = reasons.map((reason, index) => `${index + 1}. ${reason}\n`).join('');
  return `${head}\n${sections.join('\n')}\n## Refused by design\n\n${refusals}`;
}
