/** Checks that CloudFormation accepts the templates, with a change set for each. */
import * as z from 'zod';
import { type Check, expectNone, Skipped } from '../check.ts';
import type { StackTemplate } from '../deployment.ts';
import { type Before, listOf } from './context.ts';

const importing = z.strictObject({ 'Fn::ImportValue': z.string() });
const exporting = z.object({
  Outputs: z
    .record(z.string(), z.object({ Value: z.unknown(), Export: z.object({ Name: z.string() }).optional() }))
    .default({}),
});
const attribute = z.object({ 'Fn::GetAtt': z.tuple([z.string(), z.string()]) });

const exportsIn = (stacks: readonly StackTemplate[]): ReadonlyMap<string, unknown> =>
  new Map(
    stacks.flatMap(({ text }) =>
      Object.values(exporting.parse(JSON.parse(text)).Outputs).flatMap(({ Value, Export }) =>
        Export === undefined ? [] : [[Export.Name, Value] as const],
      ),
    ),
  );

/**
 * Replaces imports that do not exist with values of the same form, because CloudFormation would not make the
 * change set.
 */
export function withoutMissingImports(
  text: string,
  stacks: readonly StackTemplate[],
  { exported, region, account }: ExportsThere,
): string {
  const coming = exportsIn(stacks);
  return JSON.stringify(
    JSON.parse(text, (_key, value: unknown) => {
      const { success, data } = importing.safeParse(value);
      const name = data?.['Fn::ImportValue'] ?? '';
      if (!success || exported.has(name)) return value;
      const exportedLater = coming.get(name);
      if (typeof exportedLater === 'string') return exportedLater;
      return attribute.safeParse(exportedLater).success
        ? `arn:aws:service:${region}:${account}:to-come`
        : 'to-come';
    }),
  );
}

interface ExportsThere {
  readonly exported: ReadonlySet<string>;
  readonly region: string;
  readonly account: string;
}

export const changeSetChecks: readonly Check<Before>[] = [
  {
    name: 'change-sets',
    shows: 'CloudFormation takes the templates, with their properties, names and quotas',
    remedy:
      'Free a name that is taken, ask for a quota in Service Quotas, or report the sentence of CloudFormation. This check needs the rights to make and delete change sets and to write to the bootstrap’s bucket.',
    run: async ({ stacks, aws, region, qualifier, signal }) => {
      if ((await aws.bootstrapVersion(qualifier)) === undefined)
        throw new Skipped('the templates ask for the version of the bootstrap, and the region has none');
      const { account } = await aws.identity();
      const exported = await aws.exports();
      const bucket = `cdk-${qualifier}-assets-${account}-${region}`;
      const made = await Promise.all(
        stacks.map(async ({ name, text }) => {
          const template = withoutMissingImports(text, stacks, { exported, region, account });
          const stack = await aws.stack(name);
          const isNew = stack === undefined || stack.status === 'REVIEW_IN_PROGRESS';
          const isStackOwn = stack === undefined || stack.isOfChangeSets;
          const asked = { stackName: name, template, isNew, isStackOwn, bucket, region, signal };
          return { name, ...(await aws.changeSet(asked)) };
        }),
      );
      const refused = made.filter(({ isTaken }) => !isTaken);
      expectNone(
        refused.map(({ name, faults }) => `${name}: ${faults.join(', ')}`),
        (list) => `CloudFormation does not take ${list}.`,
      );
      const warned = made.filter(({ warnings }) => warnings.length > 0);
      const seen = `CloudFormation takes ${made.map(({ name }) => name).join(', ')}`;
      if (warned.length === 0) return seen;
      return `${seen}, and warns of ${listOf(warned.map(({ name, warnings }) => `${name}: ${warnings.join(', ')}`))}`;
    },
  },
];
