/**
 * A process that does with BullMQ what the local stage does: accepts messages over HTTP, stores them in Redis before it
 * answers, delivers them over HTTP, and retries. Arguments: BullMQ's folder, and Redis's port.
 *
 * It is what a team would write that wants speed: a fast web framework, `fetch` with a timeout, and Redis as in BullMQ's
 * documents.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { fail, type bullmqReady } from './protocol.ts';

interface Job {
  readonly data: unknown;
}
interface Queue {
  add(name: string, data: object, options: object): Promise<{ readonly id?: string }>;
}
interface Request {
  readonly url: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}
interface Server {
  addContentTypeParser(
    type: string,
    options: { readonly parseAs: 'string' },
    parse: (request: Request, body: string, done: (error: null, body: string) => void) => void,
  ): void;
  post(path: string, handle: (request: Request) => Promise<object>): void;
  listen(options: { readonly host: string; readonly port: number }): Promise<string>;
}

const isFunction = (value: unknown): boolean => typeof value === 'function';
/** Types of the parts that are used, because the packages are installed separately. */
const bullmq = z.object({
  Queue: z.custom<new (name: string, options: object) => Queue>(isFunction),
  Worker:
    z.custom<new (name: string, work: (job: Job) => Promise<void>, options: object) => object>(isFunction),
});
const fastify = z.custom<() => Server>(isFunction);
const job = z.object({ url: z.string(), contentType: z.string(), body: z.string() });

const [folder = '', redisPort = ''] = process.argv.slice(2);
const load = createRequire(join(folder, 'package.json'));
const { Queue, Worker } = bullmq.parse(load('bullmq'));
const makeServer = fastify.parse(load('fastify'));

/** As BullMQ's documents recommend for workers. */
const connection = { host: '127.0.0.1', port: Number(redisPort), maxRetriesPerRequest: null };
const deliveriesAtOnce = 32;
const deliveryTimeoutMs = 30_000;
/** The same retries as in the service. The last thousand jobs are kept for inspection. */
const jobOptions = {
  attempts: 4,
  backoff: { type: 'exponential', delay: 10_000 },
  removeOnComplete: 1_000,
};

async function deliver({ url, contentType, body }: z.infer<typeof job>): Promise<void> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': contentType },
    body,
    signal: AbortSignal.timeout(deliveryTimeoutMs),
  });
  // The body is read to its end, so that the connection can be reused.
  await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`The destination answered ${answer.status}.`);
}

const publishing = '/publish/';

async function serve(): Promise<void> {
  const queue = new Queue('messages', { connection });
  new Worker('messages', ({ data }) => deliver(job.parse(data)), {
    connection,
    concurrency: deliveriesAtOnce,
  });
  const server = makeServer();
  server.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    done(null, body);
  });
  server.post(`${publishing}*`, async ({ url, headers, body }) => {
    const contentType = headers['content-type'] ?? 'text/plain';
    const { id } = await queue.add(
      'message',
      { url: url.slice(publishing.length), contentType, body },
      jobOptions,
    );
    return { messageId: id };
  });
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  const ready: z.infer<typeof bullmqReady> = { port: Number(new URL(address).port) };
  process.send?.(ready);
}

serve().catch(fail);
process.on('disconnect', () => process.exit());
