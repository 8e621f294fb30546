/** The thread in which the stage delivers, with clients of its own. */
import * as z from 'zod/mini';
import { startHandingOver } from '../aws/handOver.ts';
import { handOverOfThread } from '../dynamodb/dynamodb.ts';
import { answerCalls } from '../lambda/thread.ts';

/** Set by the thread that started this one. */
const environment = z.object({
  AWS_ENDPOINT_URL_DYNAMODB: z.url(),
  /** Of a DynamoDB of the developer's own. */
  DYNAMODB_ENDPOINT: z.optional(z.string()),
});

/** Takes invocations of functions, until the thread is ended. */
export function deliverInThread(): void {
  const { AWS_ENDPOINT_URL_DYNAMODB: url, DYNAMODB_ENDPOINT: own = '' } = environment.parse(process.env);
  startHandingOver(own === '' ? new Map([[new URL(url).host, handOverOfThread(url)]]) : new Map(), url);
  answerCalls();
}
