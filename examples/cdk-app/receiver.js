import { Receiver } from '@upstash/qstash';

const receiver = new Receiver({
  currentSigningKey: process.env.QSTASH_CURRENT_SIGNING_KEY,
  nextSigningKey: process.env.QSTASH_NEXT_SIGNING_KEY,
});

/** Handles what the queue delivers, and nothing that anybody else sends. */
export async function handler({ headers, body = '', isBase64Encoded }) {
  const text = isBase64Encoded ? Buffer.from(body, 'base64').toString() : body;
  const isGood = await receiver
    .verify({ signature: headers['upstash-signature'] ?? '', body: text })
    .catch(() => false);
  if (!isGood) return { statusCode: 401 };
  console.log('received', text);
  return { statusCode: 200 };
}
