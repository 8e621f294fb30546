/**
 * Creates a change set, and deletes it unused. CloudFormation validates it: properties, names that are taken, and quotas
 * ("Validate stack deployments" in the AWS CloudFormation User Guide).
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
import type { Clients } from '../clients.ts';
import { until } from '../wait.ts';

/** Bytes of a template inside a request ("AWS CloudFormation quotas": 51,200, and 1 MB in S3). */
const largestInRequest = 51_200;

/** The prefix of change sets and stored templates, so that a later run recognizes them. */
const ownPrefix = 'svc-queue-verify-';

export const isOwnChangeSet = (name: string): boolean => name.startsWith(ownPrefix);

/** CloudFormation creates a change set within seconds. */
const waitMs = 300_000;

export interface ChangeSetAsked {
  readonly stackName: string;
  readonly template: string;
  /** Whether the stack does not exist, or was never deployed. */
  readonly isNew: boolean;
  /** Whether the stack exists only for the change set, and is deleted with it. */
  readonly isStackOwn: boolean;
  readonly bucket: string;
  readonly region: string;
  readonly signal: AbortSignal;
}

interface ChangeSet {
  readonly isTaken: boolean;
  readonly faults: readonly string[];
  readonly warnings: readonly string[];
}

/** The reasons in a change set without changes (from "CreateChangeSet" and the CDK's CLI). */
const unchanged = /didn't contain changes|No updates are to be performed/;

function findingOf(event: OperationEvent): string {
  const { LogicalResourceId = '', ValidationPath = '', ValidationStatusReason, HookStatusReason } = event;
  const reason = ValidationStatusReason ?? HookStatusReason ?? event.ResourceStatusReason ?? '';
  return [LogicalResourceId, ValidationPath, reason].filter((part) => part !== '').join(' ');
}

/** Judges a change set by its status and by the events of its creation (`DescribeEvents`). */
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

/** Creates a change set, reads CloudFormation's findings, and always deletes it. */
export async function tryChangeSet(
  { cloudFormation, s3 }: Pick<Clients, 'cloudFormation' | 's3'>,
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
