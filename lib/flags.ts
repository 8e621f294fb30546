/**
 * Sets the CDK's feature flags from `cdk.json`, because templates depend on some. An app with other flags gets the same
 * templates.
 */
import type { Stack } from 'aws-cdk-lib';
import manifest from '../cdk.json' with { type: 'json' };

/** The names of flags contain `@`, and those of settings do not. */
const flags = Object.entries(manifest.context).filter(([name]) => name.includes('@'));

/** Sets the flags of a stack that is still empty. */
export function setFlags({ node }: Stack): void {
  for (const [name, value] of flags) node.setContext(name, value);
}
