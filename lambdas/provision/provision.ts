/**
 * Makes, changes and ends what an app of the CDK has in the service: accounts, schedules and URL groups. A request may come twice,
 * and each may come after another that failed half-way.
 */
import { ensureAccount, suspendAccount } from './account.ts';
import { type Event, type Input, readInput } from './event.ts';
import { ensureSchedule, removeSchedule } from './schedule.ts';
import { ensureUrlGroup, removeUrlGroup } from './urlGroup.ts';

/** The name by which CloudFormation knows what was made. A change of it replaces: CloudFormation deletes the other one later. */
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

/** @param physicalId of what is to be ended: after a replacement it is not what the other properties name */
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
 * @returns the name by which CloudFormation knows what was made or ended
 * @throws HttpError for what the service refuses, with the sentence for the app's developer
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
 * Names what was not made. CloudFormation then asks for its deletion. An account may be half made, and is suspended. The others are
 * made as a whole or not at all: their name might be that of one that somebody else made.
 */
export function idOfFailed({ PhysicalResourceId, ResourceProperties, RequestId }: Event): string {
  if (PhysicalResourceId !== undefined) return PhysicalResourceId;
  try {
    const input = readInput(ResourceProperties);
    if (input.kind === 'account') return input.id;
  } catch {
    // The reason for which it was not made.
  }
  return `none/${RequestId}`;
}
