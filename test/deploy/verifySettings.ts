/** The settings of the deployment for `npm run test:verify`; see `run.ts` for those that only an emulator needs. */
export const settings: Readonly<Record<string, string>> = {
  retain: 'false',
  scheduleGroup: 'default',
  clientPatience: '10',
  allowedDestinations: '127.0.0.0/8',
  forEmulator: 'true',
  publishUrl: 'true',
  lambdaDestinations: 'arn:aws:lambda:*:*:function:orders-*',
  // The emulator allows as many executions as its machine can run, some hundreds.
  deliveryConcurrency: '50',
  accountConcurrency: '150',
};
