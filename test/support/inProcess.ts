import { addToClients } from '../../lambdas/aws/additions.ts';
import { handingOver } from '../../local/aws/handOver.ts';
import { isolate, setVariables } from '../../local/lambda/environment.ts';
import { environmentOf, startStandIns, type Endings, type StandIns } from '../../local/stage/standIns.ts';

export interface InProcessOptions {
  /**
   * Clients call DynamoDB and SQS over HTTP, with all that the SDK does: signatures, retries, time limits. Without it they hand
   * their calls over, as on the local stage, and run none of the SDK's steps but the first: that takes half the CPU.
   */
  readonly overHttp?: boolean;
}

/**
 * Starts the stand-ins for AWS around this very process: for tests that call services and handlers themselves, to make them fail
 * where no client could, or to count their calls. Modules of `lambdas/` that read the environment must be imported afterwards.
 */
export async function startInProcess({ overHttp = false }: InProcessOptions = {}): Promise<{
  readonly standIns: StandIns;
  stop(): Promise<void>;
}> {
  isolate();
  const endings: Endings = [];
  const fail = (error: unknown): never => {
    throw error;
  };
  const standIns = await startStandIns(
    { region: 'eu-central-1', announce: fail, report: fail },
    undefined,
    endings,
  );
  const handOver = overHttp ? undefined : handingOver(standIns.handOvers);
  addToClients((service, client) => {
    // Tests add steps to clients, and remove them, after a first call.
    client.config.cacheMiddleware = false;
    handOver?.(service, client);
  });
  setVariables({
    ...environmentOf('eu-central-1', standIns),
    ALLOWED_DESTINATIONS: '127.0.0.0/8,::1/128,localhost',
  });
  return {
    standIns,
    stop: async () => {
      for (let end = endings.pop(); end !== undefined; end = endings.pop()) await end();
    },
  };
}
