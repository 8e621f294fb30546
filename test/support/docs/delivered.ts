import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import * as z from 'zod/mini';
import { close, listen } from '../../../local/http.ts';

const signed = z.catchall(z.object({ 'upstash-signature': z.string() }), z.string());

/** Publishes a message in the clients' dialect to this process. @returns the delivery's request */
export async function delivered() {
  const got = createServer();
  const { server, url: origin } = await listen((request, response) => {
    got.emit('request', request, response);
  });
  const coming = once(got, 'request') as Promise<[IncomingMessage, ServerResponse]>;
  const url = `${origin}/orders`;
  const published = await fetch(`${process.env['SVC_URL'] ?? ''}/v2/publish/${url}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${process.env['SVC_TOKEN'] ?? ''}`, 'upstash-retries': '0' },
    body: '{"id":7}',
  });
  if (!published.ok) throw new Error(`The publish was answered with ${published.status}.`);
  const [request, response] = await coming;
  const body = await text(request);
  response.end();
  await close(server);
  return { url, body, headers: signed.parse(request.headers) };
}
