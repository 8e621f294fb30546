/** An app beside the queue: it sends itself a message, and says what came. */
import { createServer } from 'node:http';

const { SVC_URL, SVC_TOKEN, APP_URL } = process.env;
const app = new URL(APP_URL);

const server = createServer(async (request, response) => {
  request.setEncoding('utf8');
  let order = '';
  for await (const part of request) order += part;
  response.end();
  console.log(`${request.url} came: ${order}`);
});

server.listen(app.port, async () => {
  const answer = await fetch(`${SVC_URL}/v2/publish/${APP_URL}/orders`, {
    method: 'POST',
    headers: { authorization: `Bearer ${SVC_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ order: 1 }),
  });
  console.log(`published: ${await answer.text()}`);
});

process.on('SIGTERM', () => process.exit());
