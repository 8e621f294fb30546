/**
 * Stands in for `@aws-sdk/credential-provider-node` inside the bundles. Lambda gives a function its credentials in the environment
 * only, so the providers for files, single sign-on, web identity and instance metadata would only make the cold start longer.
 */
import { fromEnv } from '@aws-sdk/credential-provider-env';

export const defaultProvider = () => fromEnv();
