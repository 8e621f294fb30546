import { serve } from '@upstash/workflow';

const { handler: run } = serve(async (context) => {
  const order = context.requestPayload;
  const price = await context.run('price', () => (order.items ?? []).length * 10);
  await context.sleep('a moment', 5);
  await context.run('ship', () => console.log('shipped for', price));
});

/** Serves the workflow at the function's URL. */
export async function handler({ rawPath, headers, body, isBase64Encoded, requestContext }) {
  const request = new Request(`https://${requestContext.domainName}${rawPath}`, {
    method: 'POST',
    headers,
    body: isBase64Encoded ? Buffer.from(body, 'base64') : body,
  });
  const response = await run(request);
  return { statusCode: response.status, body: await response.text() };
}
