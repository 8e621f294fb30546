/**
 * Checks that each message that has not ended is in a queue, in Scheduler or in a line, and that each
 * schedule will fire.
 */
import * as sdk from '@aws-sdk/client-dynamodb';
import { addToClients } from '../../lambdas/aws/additions.ts';
import { handingOver } from '../aws/handOver.ts';
import { handOverTo } from '../dynamodb/dynamodb.ts';
import { Rows } from '../dynamodb/rows.ts';
import { isolate, setVariables } from '../lambda/environment.ts';
import { knownAttempts } from '../stage/lostMessages.ts';
import { environmentOf } from '../stage/standIns.ts';
import { killsOf } from '../store/openStore.ts';
import type { Store } from '../store/store.ts';

type Counts = Readonly<Record<string, number>>;

export interface Checked {
  readonly counts: Counts;
  readonly problems: readonly string[];
}

/** How many lost messages are named. */
const shown = 5;

/** @param isAtWork whether a stage is using the store */
export async function checkJobs(store: Store, isAtWork: boolean): Promise<Checked> {
  const problems: string[] = [];
  const report = (error: unknown): void => {
    problems.push(String(error));
  };
  isolate();
  addToClients(
    handingOver(new Map([['Dynamodb', { handOver: handOverTo(new Rows(store), report), sdk: () => sdk }]])),
  );
  setVariables(environmentOf('eu-central-1', { urls: noUrls, sqs: { queueUrl: () => nowhere } }));
  // The module reads its settings when it is loaded, so they must be set first.
  const { lostMessages } = await import('../../lambdas/recovery/missing.ts');
  const kills = killsOf(store);
  const now = isAtWork ? Date.now() : undefined;
  const { accepted, unanswered } = await lostMessages(
    knownAttempts(store),
    kills?.first ?? now,
    now ?? kills?.last,
  );
  if (accepted.length > 0) {
    const names = `${accepted.slice(0, shown).join(', ')}${accepted.length > shown ? ', …' : ''}`;
    problems.push(
      `${accepted.length} messages have not ended, and no queue, schedule or line has them: ${names}.`,
    );
  }
  return {
    counts: { 'publishes without an answer, which a kill or this check met': unanswered.length },
    problems,
  };
}

/** A URL that is never called. */
const nowhere = 'http://nowhere.invalid';
const noUrls = { dynamodb: nowhere, sqs: nowhere, scheduler: nowhere, s3: nowhere, secrets: nowhere };
