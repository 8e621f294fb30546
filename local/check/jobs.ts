/** Checks that each unfinished message is in a queue, in Scheduler or in a line, and that each schedule will fire. */
import * as sdk from '@aws-sdk/client-dynamodb';
import * as z from 'zod/mini';
import { addToClients } from '../../lambdas/aws/additions.ts';
import { handingOver } from '../aws/handOver.ts';
import { handOverTo } from '../dynamodb/dynamodb.ts';
import { Rows } from '../dynamodb/rows.ts';
import { jsonOrUndefined } from '../json.ts';
import { isolate, setVariables } from '../lambda/environment.ts';
import { storedSchedules } from '../scheduler/storedSchedules.ts';
import { storedMessages } from '../sqs/storedMessages.ts';
import { environmentOf } from '../stage/standIns.ts';
import type { Store } from '../store/store.ts';

const attempt = z.object({ accountId: z.string(), messageId: z.string(), attempt: z.number() });

/** The most names of lost messages in a sentence. */
const shown = 5;

export async function checkJobs(store: Store): Promise<readonly string[]> {
  const texts = [
    ...[...storedMessages(store)].map(({ body }) => body),
    ...[...storedSchedules(store)].flatMap(({ settings: { Target } }) => Target.Input),
  ];
  const known = texts.flatMap((text) => attempt.safeParse(jsonOrUndefined(text)).data ?? []);
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
  const lost = await lostMessages(known);
  if (lost.length > 0) {
    const names = `${lost.slice(0, shown).join(', ')}${lost.length > shown ? ', …' : ''}`;
    problems.push(
      `${lost.length} messages have not ended, and no queue, schedule or line has them: ${names}.`,
    );
  }
  return problems;
}

/** The check calls no other services. */
const nowhere = 'http://nowhere.invalid';
const noUrls = { dynamodb: nowhere, sqs: nowhere, scheduler: nowhere, s3: nowhere, secrets: nowhere };
