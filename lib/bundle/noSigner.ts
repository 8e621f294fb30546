/**
 * Stands in for `@smithy/signature-v4` inside the bundles, save for the part with S3: every other client is lean and has a signer of
 * its own (`lambdas/aws/makeLean.ts`). The SDK's would be 10 KB of every cold start.
 */
export function SignatureV4(): never {
  throw new Error('Only a lean client can sign here.');
}
