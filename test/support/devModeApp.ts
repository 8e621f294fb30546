/**
 * An application like a user's with the published clients. It needs no address, token or signing key, because it runs with
 * `QSTASH_DEV=true`. It sends itself a message and a workflow run, and prints a line of JSON for each arrival.
 */
import { Client, Receiver } from '@upstash/qstash';
import { Client as WorkflowClient, serve } from '@upstash/workflow';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

function tell(event: string, details: object): void {
  process.stdout.write(`${JSON.stringify({ event, ...details })}\n`);
}

const receiver = new Receiver();
const { handler } = serve<{ id: number }>(async (context) => {
  const doubled = await context.run('double', () => context.requestPayload.id * 2);
  await context.run('tell', () => {
    tell('ran', { doubled });
  });
});

async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const headers = new Headers(
    Object.entries(incoming.headersDistinct).map(([k, v]) => [k, (v ?? []).join()]),
  );
  const body = await text(incoming);
  const url = new URL(incoming.url ?? '/', origin);
  if (url.pathname === '/flow') {
    const answered = await handler(new Request(url, { method: 'POST', headers, body }));
    outgoing.writeHead(answered.status, Object.fromEntries(answered.headers)).end(await answered.text());
    return;
  }
  const signature = headers.get('upstash-signature') ?? '';
  const verified = await receiver.verify({ signature, body, url: url.href });
  const forged = await receiver.verify({ signature, body: `${body} `, url: url.href }).catch(String);
  tell('delivered', { verified, forged, body });
  outgoing.writeHead(200).end();
}

const server = createServer((incoming, outgoing) => {
  answer(incoming, outgoing).catch((error: unknown) => {
    tell('failed', { error: String(error) });
    outgoing.writeHead(500).end();
  });
});
await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
const origin = `http://localhost:${(server.address() as AddressInfo).port}`;

const { messageId } = await new Client().publishJSON({ url: `${origin}/hook`, body: { hello: 'world' } });
tell('published', { messageId });
const { workflowRunId } = await new WorkflowClient({}).trigger({ url: `${origin}/flow`, body: { id: 21 } });
tell('triggered', { workflowRunId });
