/**
 * Change sets, which CloudFormation makes of a template and the AWS account, and validates: properties, names that are taken, and
 * quotas ("Validate stack deployments" in the AWS CloudFormation User Guide). They are deleted unused.
 */
import { randomBytes } from 'node:crypto';
import {
  CreateChangeSetCommand,
  DeleteChangeSetCommand,
  DeleteStackCommand,
  DescribeChangeSetCommand,
  type OperationEvent,
  paginateDescribeEvents,
} from '@aws-sdk/client-cloudformation';
import { DeleteObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import * as z from 'zod';
import { type Check, expectThat, Skipped } from '../check.ts';
import type { ChangeSetClients } from '../clients.ts';
import type { StackTemplate } from '../deployment.ts';
import { until } from '../wait.ts';
import { type Before, listOf } from './context.ts';

/** Bytes of a template that a request itself may have ("AWS CloudFormation quotas": 51,200, and 1 MB in S3). */
const largestInRequest = 51_200;

/** The beginning of the names of change sets and of stored templates, by which a later run knows those of a run that was killed. */
const ownPrefix = 'svc-queue-verify-';

export const isOwnChangeSet = (name: string): boolean => name.startsWith(ownPrefix);

/** CloudFormation makes a change set within some seconds. */
const waitMs = 300_000;

export interface ChangeSetAsked {
  readonly stackName: string;
  readonly template: string;
  /** Whether there is no such stack, or one that nothing was deployed to yet. */
  readonly isNew: boolean;
  /** Whether the stack is there only for the change set, and is deleted with it. */
  readonly isStackOwn: boolean;
  /** The bucket that the CDK's bootstrap made. */
  readonly bucket: string;
  readonly region: string;
  readonly signal: AbortSignal;
}

/** What CloudFormation says of a template. */
export interface ChangeSet {
  readonly isTaken: boolean;
  /** What keeps it from being deployed. */
  readonly faults: readonly string[];
  readonly warnings: readonly string[];
}

/** The reasons of a change set that has nothing to change ("CreateChangeSet" and the CDK's CLI know both). */
const unchanged = /didn't contain changes|No updates are to be performed/;

function findingOf(event: OperationEvent): string {
  const { LogicalResourceId = '', ValidationPath = '', ValidationStatusReason, HookStatusReason } = event;
  const reason = ValidationStatusReason ?? HookStatusReason ?? event.ResourceStatusReason ?? '';
  return [LogicalResourceId, ValidationPath, reason].filter((part) => part !== '').join(' ');
}

/** Judges a change set by its status and the events of its making (`DescribeEvents`). */
export function judgeChangeSet(
  { Status = '', StatusReason = '' }: { readonly Status?: string; readonly StatusReason?: string },
  events: readonly OperationEvent[],
): ChangeSet {
  const found = events.filter(({ EventType = '' }) => /^(VALIDATION|HOOK_INVOCATION)_ERROR$/.test(EventType));
  const isWarning = (event: OperationEvent): boolean =>
    (event.ValidationFailureMode ?? event.HookFailureMode) === 'WARN';
  const warnings = found.filter(isWarning).map(findingOf);
  const isTaken = Status === 'CREATE_COMPLETE' || unchanged.test(StatusReason);
  const faults = found.filter((event) => !isWarning(event)).map(findingOf);
  return {
    isTaken,
    faults: isTaken ? [] : [StatusReason, ...faults].filter((text) => text !== ''),
    warnings,
  };
}

/** Makes a change set, reads what CloudFormation says of it, and deletes it, whatever happens. */
export async function tryChangeSet(
  { cloudFormation, s3 }: ChangeSetClients,
  { stackName: StackName, template, isNew, isStackOwn, bucket, region, signal }: ChangeSetAsked,
): Promise<ChangeSet> {
  const ChangeSetName = `${ownPrefix}${randomBytes(6).toString('hex')}`;
  const place = { Bucket: bucket, Key: `${ChangeSetName}.json` };
  const isLarge = Buffer.byteLength(template) > largestInRequest;
  const source = isLarge
    ? { TemplateURL: `https://s3.${region}.amazonaws.com/${place.Bucket}/${place.Key}` }
    : { TemplateBody: template };
  let isMade = false;
  try {
    if (isLarge) await s3.send(new PutObjectCommand({ ...place, Body: template }));
    const { Id } = await cloudFormation.send(
      new CreateChangeSetCommand({
        ...source,
        StackName,
        ChangeSetName,
        ChangeSetType: isNew ? 'CREATE' : 'UPDATE',
        Capabilities: ['CAPABILITY_NAMED_IAM'],
      }),
    );
    isMade = true;
    const made = await until(
      async () => {
        const now = await cloudFormation.send(new DescribeChangeSetCommand({ StackName, ChangeSetName }));
        return /^CREATE_(PENDING|IN_PROGRESS)$/.test(now.Status ?? '') ? undefined : now;
      },
      () => `CloudFormation did not finish the change set of ${StackName}.`,
      { waitMs, everyMs: 2_000, signal },
    );
    const events: OperationEvent[] = [];
    const pages = paginateDescribeEvents({ client: cloudFormation }, { ChangeSetName: Id });
    for await (const { OperationEvents = [] } of pages) events.push(...OperationEvents);
    return judgeChangeSet(made, events);
  } finally {
    if (isMade) await cloudFormation.send(new DeleteChangeSetCommand({ StackName, ChangeSetName }));
    if (isMade && isStackOwn) await cloudFormation.send(new DeleteStackCommand({ StackName }));
    if (isLarge) await s3.send(new DeleteObjectCommand(place));
  }
}

const importing = z.strictObject({ 'Fn::ImportValue': z.string() });
const exporting = z.object({
  Outputs: z
    .record(z.string(), z.object({ Value: z.unknown(), Export: z.object({ Name: z.string() }).optional() }))
    .default({}),
});
const attribute = z.object({ 'Fn::GetAtt': z.tuple([z.string(), z.string()]) });

/** Finds the values that stacks export, by the names of the exports. */
const exportsIn = (stacks: readonly StackTemplate[]): ReadonlyMap<string, unknown> =>
  new Map(
    stacks.flatMap(({ text }) =>
      Object.values(exporting.parse(JSON.parse(text)).Outputs).flatMap(({ Value, Export }) =>
        Export === undefined ? [] : [[Export.Name, Value] as const],
      ),
    ),
  );

/**
 * Puts values of the same form in the place of what a stack imports and what is not exported yet: before a first deployment nothing
 * is, and CloudFormation makes no change set of a stack whose imports are missing.
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

async function checkChangeSets({ stacks, aws, region, qualifier, signal }: Before): Promise<string> {
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
  expectThat(
    refused.length === 0,
    `CloudFormation does not take ${listOf(refused.map(({ name, faults }) => `${name}: ${faults.join(', ')}`))}.`,
  );
  const warned = made.filter(({ warnings }) => warnings.length > 0);
  const seen = `CloudFormation takes ${made.map(({ name }) => name).join(', ')}`;
  return warned.length === 0
    ? seen
    : `${seen}, and warns of ${listOf(warned.map(({ name, warnings }) => `${name}: ${warnings.join(', ')}`))}`;
}

export const changeSetChecks: readonly Check<Before>[] = [
  {
    name: 'change-sets',
    shows: 'CloudFormation takes the templates, with their properties, names and quotas',
    remedy:
      'Free a name that is taken, ask for a quota in Service Quotas, or report the sentence of CloudFormation. This check needs the rights to make and delete change sets and to write to the bootstrap’s bucket.',
    run: checkChangeSets,
  },
];
