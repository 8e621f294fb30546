/** The answer to CloudFormation: see "Custom resource response objects" in its user guide. */
import { setTimeout } from 'node:timers/promises';
import { secondMs } from '../shared/clock.ts';

interface Answer {
  readonly Status: 'SUCCESS' | 'FAILED';
  readonly Reason?: string;
  readonly PhysicalResourceId: string;
  readonly StackId: string;
  readonly RequestId: string;
  readonly LogicalResourceId: string;
}

/** How often the answer is sent. CloudFormation would otherwise wait until its timeout. */
const tries = 3;
const pauseMs = secondMs;
const limitMs = 5 * secondMs;

/** @throws Error if CloudFormation does not accept the answer; Lambda then invokes the function again */
export async function answer(url: string, given: Answer): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { ok, status } = await fetch(url, {
        method: 'PUT',
        // As bytes: a string would add a content type, which the URL's signature does not cover.
        body: Buffer.from(JSON.stringify(given)),
        signal: AbortSignal.timeout(limitMs),
      });
      if (ok) return;
      throw new Error(`CloudFormation took the answer with status ${status}.`);
    } catch (error) {
      if (attempt === tries) throw error;
      await setTimeout(pauseMs);
    }
  }
}
