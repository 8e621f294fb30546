/**
 * Creates, changes and ends the accounts, schedules and URL groups of a CDK app. A request may be repeated,
 * and may follow one that failed half-way.
 */
import { ensureAccount, suspendAccount } from './account.ts';
import { type Event, type Input, readInput } from './event.ts';
import { ensureSchedule, removeSchedule } from './schedule.ts';
import { ensureUrlGroup, removeUrlGroup } from './urlGroup.ts';

/** The resource's name in CloudFormation. If it changes, CloudFormation deletes the old resource later. */
function physicalIdOf(input: Input): string {
  switch (input.kind) {
    case 'account':
      return input.id;
    case 'schedule':
      return `${input.accountId}/${input.id}`;
    case 'urlGroup':
      return `${input.accountId}/${input.name}`;
  }
}

async function ensure(input: Input, before: Input | undefined, requestId: string): Promise<void> {
  switch (input.kind) {
    case 'account':
      return ensureAccount(input, before?.kind === 'account' ? before : undefined, requestId);
    case 'schedule':
      return ensureSchedule(input);
    case 'urlGroup':
      return ensureUrlGroup(input);
  }
}

/** @param physicalId the resource to end. If it was replaced, the other properties describe the new one */
async function end({ kind }: Input, physicalId: string): Promise<void> {
  const [accountId = '', name = ''] = physicalId.split('/');
  switch (kind) {
    case 'account':
      return suspendAccount(physicalId);
    case 'schedule':
      return removeSchedule(accountId, name);
    case 'urlGroup':
      return removeUrlGroup(accountId, name);
  }
}

/**
 * @returns CloudFormation's name of the resource
 * @throws HttpError for a refusal, whose sentence the app's developer reads
 */
export async function provision(event: Event): Promise<string> {
  const input = readInput(event.ResourceProperties);
  if (event.RequestType === 'Delete') {
    const physicalId = event.PhysicalResourceId ?? physicalIdOf(input);
    await end(input, physicalId);
    return physicalId;
  }
  const before = event.RequestType === 'Update' ? readInput(event.OldResourceProperties) : undefined;
  await ensure(input, before, event.RequestId);
  return physicalIdOf(input);
}

/**
 * The name of a resource that was not made. CloudFormation then deletes it: an account that was made in part
 * is suspended. Schedules and URL groups are made completely or not at all, and their names may belong to
 * existing ones, so the name matches nothing.
 */
export function idOfFailed({ PhysicalResourceId, ResourceProperties, RequestId }: Event): string {
  if (PhysicalResourceId !== undefined) return PhysicalResourceId;
  try {
    const input = readInput(ResourceProperties);
    if (input.kind === 'account') return input.id;
  } catch {
    // The request failed because its input could not be read.
  }
  return `none/${RequestId}`;
}
