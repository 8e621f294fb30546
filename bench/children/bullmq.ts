/**
 * A process that does with BullMQ what the local stage does: accepts messages over HTTP, stores them in Redis before it
 * answers, delivers them over HTTP, and retries. Arguments: BullMQ's folder, Redis's port, and `fastify` or `http`.
 *
 * With `fastify` it is what a team would write that wants speed: a fast web framework, `fetch` with a timeout, and Redis as in
 * BullMQ's documents. With `http` it has only Node's server and client, which is the fastest that Node.js can do.
 */
import { Agent, createServer, request } from 'node:http';
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

const [folder = '', redisPort = '', by] = process.argv.slice(2);
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

async function deliverByFetch({ url, contentType, body }: z.infer<typeof job>): Promise<void> {
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

const agent = new Agent({ keepAlive: true });

function deliverByHttp({ url, contentType, body }: z.infer<typeof job>): Promise<void> {
  const headers = { 'content-type': contentType, 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      { method: 'POST', agent, headers, timeout: deliveryTimeoutMs },
      (answer) => {
        const { statusCode = 0 } = answer;
        answer.resume().once('end', () => {
          if (statusCode >= 200 && statusCode < 300) resolve();
          else reject(new Error(`The destination answered ${statusCode}.`));
        });
      },
    );
    outgoing.once('timeout', () => outgoing.destroy(new Error('The destination did not answer.')));
    outgoing.once('error', reject).end(body);
  });
}

const publishing = '/publish/';

type Publish = (url: string, contentType: string | undefined, body: string) => Promise<object>;

async function serve(): Promise<void> {
  const queue = new Queue('messages', { connection });
  const deliver = by === 'http' ? deliverByHttp : deliverByFetch;
  new Worker('messages', ({ data }) => deliver(job.parse(data)), {
    connection,
    concurrency: deliveriesAtOnce,
  });
  const publish: Publish = async (url, contentType = 'text/plain', body) => {
    const data = { url: url.slice(publishing.length), contentType, body };
    return { messageId: (await queue.add('message', data, jobOptions)).id };
  };
  const port = by === 'http' ? await serveByHttp(publish) : await serveByFastify(publish);
  const ready: z.infer<typeof bullmqReady> = { port };
  process.send?.(ready);
}

const host = '127.0.0.1';

async function serveByHttp(publish: Publish): Promise<number> {
  const server = createServer((incoming, response) => {
    let body = '';
    incoming.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    incoming.once('end', () => {
      publish(incoming.url ?? '', incoming.headers['content-type'], body).then(
        (answer) =>
          response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer)),
        () => response.writeHead(500).end(),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return bound.parse(server.address()).port;
}

const bound = z.object({ port: z.int() });

async function serveByFastify(publish: Publish): Promise<number> {
  const server = makeServer();
  server.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    done(null, body);
  });
  server.post(`${publishing}*`, ({ url, headers, body }) => publish(url, headers['content-type'], body));
  return Number(new URL(await server.listen({ host, port: 0 })).port);
}

serve().catch(fail);
process.on('disconnect', () => process.exit());
