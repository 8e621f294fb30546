/**
 * Replaces `@aws-sdk/credential-provider-node` in the bundles. Lambda gives credentials only in the environment, so the other
 * providers would only make the cold start longer.
 */
import { fromEnv } from '@aws-sdk/credential-provider-env';

export const defaultProvider = () => fromEnv();
