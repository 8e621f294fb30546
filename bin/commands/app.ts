/** The CDK app, which the CDK's CLI runs. */
export async function run(): Promise<void> {
  await import('../svc.ts');
}
