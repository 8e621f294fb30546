/** The app of the CDK, which the CDK's CLI runs for the commands that deploy. */
export async function run(): Promise<void> {
  await import('../svc.ts');
}
