/** Writes the results as a page of the documentation. */
import type { Client } from './clients.ts';
import type { Result } from './result.ts';

/** The results of all versions of a client, in order. */
export interface Tested {
  readonly client: Client;
  readonly results: readonly (readonly Result[])[];
}

const head = `# Which clients work

For programmers who choose a client, or upgrade one: which versions work with the service, and what each can do.

Each operation of the published clients, in the oldest supported version, the newest and some between, unchanged; and the calls of
[applications](apps.md) with the clients that they use. \`npm run conformance\` makes this page by running them against the local stage; with
\`--url\` and \`--token\` it runs them against any deployment. CI makes it again and compares, save for what is marked \`*\`: that takes a
minute to compile, and ran when the page was written.

\`✓\`: passed. \`–\`: that version does not offer the operation. A number: refused by design, for the reason below the tables.
`;

const headingOf = ({ name, registry }: Client): string => `## \`${name}\` (${registry})`;

/** The sections of a page, by heading. */
export const sectionsOf = (page: string): ReadonlyMap<string, string> =>
  new Map(
    page
      .split(/^(?=## )/m)
      .slice(1)
      .map((section) => [section.split('\n', 1)[0] ?? '', section] as const),
  );

const tableOf = (lines: readonly (readonly string[])[]): string =>
  lines.map((line) => `| ${line.join(' | ')} |\n`).join('');

/** A row for each client: what was tested. */
function summaryOf(all: readonly Client[]): string {
  const rows = all.map(({ name, registry, versions, isSlow = false }) => [
    `\`${name}\` (${registry})${isSlow ? ' `*`' : ''}`,
    versions.map((version) => version.name).join(', '),
  ]);
  return tableOf([['client or application', 'versions'], ['---', '---'], ...rows]);
}

/**
 * @param kept the previous page's sections, for clients that were not run
 * @throws if a client has neither results nor a section
 */
export function pageOf(
  all: readonly Client[],
  tested: readonly Tested[],
  kept: ReadonlyMap<string, string>,
): string {
  const reasons: string[] = [];
  const cell = (result: Result | undefined): string => {
    if (result === undefined) return '–';
    const { outcome, reason = '' } = result;
    if (outcome === 'passed') return '✓';
    if (outcome === 'not offered') return '–';
    if (outcome !== 'refused') return outcome;
    if (!reasons.includes(reason)) reasons.push(reason);
    return String(reasons.indexOf(reason) + 1);
  };
  const sections = all.map((client) => {
    const results = tested.find((one) => one.client === client)?.results;
    const heading = headingOf(client);
    if (results === undefined) {
      const section = kept.get(heading);
      if (section === undefined)
        throw new Error(`${client.name} was not run, and the page has nothing of it.`);
      return `${section.trimEnd()}\n`;
    }
    const operations = [...new Set(results.flat().map(({ operation }) => operation))].toSorted();
    const rows = operations.map((operation) => [
      `\`${operation}\``,
      ...results.map((of) => cell(of.find((one) => one.operation === operation))),
    ]);
    const names = client.versions.map(({ name }) => name);
    const table = tableOf([['', ...names], names.map(() => '---').concat('---'), ...rows]);
    return `${heading}\n\n${client.about}\n\n${table}`;
  });
  const refusals = reasons.map((reason, index) => `${index + 1}. ${reason}\n`).join('');
  return `${head}\n${summaryOf(all)}\n${sections.join('\n')}\n## Refused by design\n\n${refusals}`;
}
