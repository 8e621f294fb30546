import { Client } from '@upstash/qstash';

/** Takes an order: it is handled in a moment by the receiver, and step by step by the workflow. */
export async function handler({ body = '{}' }) {
  const { QSTASH_URL: baseUrl, QSTASH_TOKEN: token, RECEIVER_URL, WORKFLOW_URL } = process.env;
  const client = new Client({ baseUrl, token });
  const { messageId } = await client.publishJSON({ url: RECEIVER_URL, body: JSON.parse(body), retries: 3 });
  await client.publishJSON({ url: WORKFLOW_URL, body: JSON.parse(body) });
  return { statusCode: 202, body: JSON.stringify({ messageId }) };
}
