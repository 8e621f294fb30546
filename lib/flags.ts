/**
 * Sets the CDK's feature flags as in `cdk.json`, because templates depend on some. So an app with other flags
 * gets the same templates.
 */
import type { Stack } from 'aws-cdk-lib';
import manifest from '../cdk.json' with { type: 'json' };

/** The names of flags contain `@`, and those of settings do not. */
const flags = Object.entries(manifest.context).filter(([name]) => name.includes('@'));

export function setFlags({ node }: Stack): void {
  for (const [name, value] of flags) node.setContext(name, value);
}
