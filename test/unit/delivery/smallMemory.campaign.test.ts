/** Tests deliveries of the largest messages in a process with the least memory that `deliveryMemory` allows. */
import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { startInvoker } from '../../../bench/child.ts';
import { apiEvent, queueEvent } from '../../../bench/events.ts';
import { startFixture } from '../../../bench/fixture.ts';
import {
  knownRunsBytes,
  largeWorkBytes,
  leastDeliveryMemoryMb,
  messagesInMemory,
} from '../../../lambdas/aws/resources.ts';

const mebibyte = 2 ** 20;

it(
  'delivers as many messages of 4 MiB as it gets at once, with equally large answers and callbacks, and has room left for large jobs',
  { timeout: 120_000 },
  async () => {
    const memoryMb = leastDeliveryMemoryMb;
    const messages = messagesInMemory(memoryMb);
    const fixture = await startFixture();
    const variables = { AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMb) };
    const deliver = await startInvoker('deliver', variables, memoryMb);
    try {
      // Incompressible, with a little room left for its surroundings.
      const body = randomBytes(4 * mebibyte - 1_000);
      let delivered = 0;
      const inbox = fixture.receiver.inbox((_, response) => {
        delivered += 1;
        response.end(body);
      });
      const { token } = await fixture.makeAccount({ type: 'paid' });
      const publish = apiEvent({
        token,
        route: '/v2/publish/{destination+}',
        pathParameters: { destination: inbox.url },
        headers: { 'Svc-Callback': inbox.url },
        body,
      });
      for (let round = 0; round < 4; round += 1) {
        for (let made = 0; made < messages; made += 1) await fixture.publish.invoke(publish);
        await deliver.invoke([queueEvent(await fixture.takeAttempts(messages))]);
      }
      expect(delivered).toBe(4 * messages);
      const forOthersMb = (largeWorkBytes(memoryMb) + knownRunsBytes) / mebibyte;
      expect(deliver.peakMb() + forOthersMb).toBeLessThanOrEqual(memoryMb);
    } finally {
      await deliver.end();
      await fixture.close();
    }
  },
);
