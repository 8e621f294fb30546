/**
 * A process that does with BullMQ what the local stage does: takes messages over HTTP, keeps them in Redis before it answers,
 * delivers them over HTTP, and would try again. Its arguments are the folder that BullMQ is installed in, and the socket of Redis.
 */
import { Agent, createServer, request, type IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import * as z from 'zod/mini';
import type { bullmqReady } from './protocol.ts';

interface Job {
  readonly data: unknown;
}
interface Queue {
  add(name: string, data: object, options: object): Promise<{ readonly id?: string }>;
}
const isFunction = (value: unknown): boolean => typeof value === 'function';
/** What is used of the package. It is installed apart, so its types are not here. */
const bullmq = z.object({
  Queue: z.custom<new (name: string, options: object) => Queue>(isFunction),
  Worker:
    z.custom<new (name: string, work: (job: Job) => Promise<void>, options: object) => object>(isFunction),
});
const job = z.object({ url: z.string(), contentType: z.string(), body: z.string() });

const [folder = '', path = ''] = process.argv.slice(2);
const { Queue, Worker } = bullmq.parse(createRequire(join(folder, 'package.json'))('bullmq'));

/** As BullMQ's documents recommend for workers. */
const connection = { path, maxRetriesPerRequest: null };
const deliveriesAtOnce = 32;
/** The retries that a message has at the service, too; the last thousand jobs stay to be looked at. */
const jobOptions = {
  attempts: 4,
  backoff: { type: 'exponential', delay: 10_000 },
  removeOnComplete: 1_000,
};

async function readAll(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const agent = new Agent({ keepAlive: true });

const deliver = (message: z.infer<typeof job>): Promise<void> =>
  new Promise((resolve, reject) => {
    const { url, contentType, body } = message;
    const headers = { 'content-type': contentType, 'content-length': Buffer.byteLength(body) };
    const outgoing = request(url, { method: 'POST', agent, headers }, (answer) => {
      const { statusCode = 0 } = answer;
      answer.resume().once('end', () => {
        if (statusCode >= 200 && statusCode < 300) resolve();
        else reject(new Error(`The destination answered ${statusCode}.`));
      });
    });
    outgoing.once('error', reject);
    outgoing.end(body);
  });

const queue = new Queue('messages', { connection });
// It works until the process ends.
new Worker('messages', ({ data }) => deliver(job.parse(data)), {
  connection,
  concurrency: deliveriesAtOnce,
});

const publishing = '/publish/';
const server = createServer((incoming, response) => {
  const { url = '', headers } = incoming;
  void readAll(incoming)
    .then((body) =>
      queue.add(
        'message',
        {
          url: url.slice(publishing.length),
          contentType: headers['content-type'] ?? 'text/plain',
          body,
        },
        jobOptions,
      ),
    )
    .then(({ id }) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ messageId: id }));
    });
});
server.listen(0, '127.0.0.1', () => {
  const ready: z.infer<typeof bullmqReady> = { port: (server.address() as AddressInfo).port };
  process.send?.(ready);
});
process.on('disconnect', () => process.exit());
