import { addToClients } from '../../lambdas/aws/additions.ts';
import { isolate, setVariables } from '../../local/lambda/environment.ts';
import { environmentOf, startStandIns, type Endings, type StandIns } from '../../local/stage/standIns.ts';

/**
 * The stand-ins for AWS around this very process: for what has to call services and handlers itself, to make them fail
 * where no client could, or to count what they call. Everything under `lambdas/` that reads the environment must be
 * imported afterwards.
 */
export async function startInProcess(): Promise<{ readonly standIns: StandIns; stop(): Promise<void> }> {
  isolate();
  // Tests add steps to clients, and take them out, after a first call.
  addToClients((_service, { config }) => (config.cacheMiddleware = false));
  const endings: Endings = [];
  const fail = (error: unknown): never => {
    throw error;
  };
  const standIns = await startStandIns(
    { region: 'eu-central-1', announce: fail, report: fail, onFatal: fail },
    undefined,
    endings,
  );
  setVariables({
    ...environmentOf('eu-central-1', standIns),
    ALLOWED_DESTINATIONS: '127.0.0.0/8,::1/128,localhost',
  });
  await standIns.tablesReady;
  return {
    standIns,
    stop: async () => {
      for (let end = endings.pop(); end !== undefined; end = endings.pop()) await end();
    },
  };
}
