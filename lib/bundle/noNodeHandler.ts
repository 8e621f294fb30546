/**
 * Stands in for `@smithy/node-http-handler` inside the bundles, save for the part with S3: every other client is given a sender
 * (`lambdas/aws/clientOptions.ts`), whose answers are bytes. The SDK's would be 10 KB of every cold start.
 */
export const NodeHttpHandler = {
  /** @throws Error for a client that was made without `clientOptions` */
  create<Handler extends object>(handler: Handler): Handler {
    if ('handle' in handler) return handler;
    throw new Error('Only a client with a sender of its own can be used here.');
  },
};

export function streamCollector(): never {
  throw new Error('Here answers are no streams.');
}
