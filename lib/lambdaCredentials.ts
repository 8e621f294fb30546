/**
 * Replaces `@aws-sdk/credential-provider-node` in the bundles. Lambda gives credentials only in the environment, and other
 * providers make the cold start longer.
 */
import { fromEnv } from '@aws-sdk/credential-provider-env';

export const defaultProvider = () => fromEnv();
