import { App } from 'aws-cdk-lib';

export const namesNoRegion = `Name the regions of the deployment, the first one with the management API:
  --region eu-central-1                       one region
  --region eu-central-1 --region us-east-1    two, of which each has its own API and its own idle price
or as "regions" in the "context" of this folder's cdk.json.`;

/** The CDK app, which the CDK's CLI runs. Regions have no default here: each of them costs money. */
export async function run(): Promise<void> {
  const given: unknown = new App({ autoSynth: false }).node.tryGetContext('regions');
  if (given !== undefined) {
    await import('../svc.ts');
    return;
  }
  console.error(namesNoRegion);
  process.exitCode = 1;
}
