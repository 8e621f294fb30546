/**
 * A function in many processes, as under load. They share only the tables. Each is a copy of one file in this
 * process, whose calls the meter can see.
 */
import { pathToFileURL } from 'node:url';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { SQSClient } from '@aws-sdk/client-sqs';
import * as z from 'zod/mini';
import { setVariables } from '../local/lambda/environment.ts';
import { toFunction, type FunctionOptions, type LambdaFunction } from '../local/lambda/lambda.ts';
import { checkAnswer } from './answer.ts';
import { compileChild } from './child.ts';
import type { Meter } from './meter.ts';

export const functionOptions: FunctionOptions = { region: 'us-east-1', timeoutMs: 60_000 };

const handler = z.custom<Parameters<typeof toFunction>[1]>((value) => typeof value === 'function');
const copy = z.object({
  deliver: handler,
  publish: handler,
  workflows: handler,
  dynamodb: z.custom<DynamoDBClient>((value) => typeof value === 'object'),
  sqs: z.custom<SQSClient>((value) => typeof value === 'object'),
});

let started = 0;

/**
 * @returns a function that invokes the process that was idle for longest, so that it knows as little of
 * recent changes as in a large fleet
 */
export async function startCopies(
  meter: Meter,
  name: 'deliver' | 'publish' | 'workflows',
  count: number,
): Promise<LambdaFunction['invoke']> {
  const file = pathToFileURL(compileChild('functions')).href;
  // Jobs that go back to their queue are counted, but not logged.
  setVariables({ POWERTOOLS_LOG_LEVEL: 'ERROR' });
  const idle: LambdaFunction[] = [];
  for (let number = 0; number < count; number += 1) {
    started += 1;
    const { dynamodb, sqs, ...handlers } = copy.parse(await import(`${file}?copy=${started}`));
    meter.watch({ dynamodb, sqs });
    idle.push(toFunction(`${name} ${number}`, handlers[name], functionOptions));
  }
  return async (event) => {
    const process = idle.shift();
    if (process === undefined) throw new Error(`All processes of ${name} are busy.`);
    try {
      const answer = await process.invoke(event);
      checkAnswer(answer);
      return answer;
    } finally {
      idle.push(process);
    }
  };
}
