/**
 * The CDK's feature flags, as `cdk.json` has them. The templates depend on some of them. An app with other flags gets the same
 * templates, because each stack of the service has these.
 */
import type { Stack } from 'aws-cdk-lib';
import manifest from '../cdk.json' with { type: 'json' };

/** Settings have no such character in their names. */
const flags = Object.entries(manifest.context).filter(([name]) => name.includes('@'));

/** Sets the flags of a stack. It must have nothing in it yet. */
export function setFlags({ node }: Stack): void {
  for (const [name, value] of flags) node.setContext(name, value);
}
