/** The CDK app, which the CDK's CLI runs for commands that deploy. */
export async function run(): Promise<void> {
  await import('../svc.ts');
}
