import { addToClients } from '../../lambdas/aws/additions.ts';
import { handingOver } from '../../local/aws/handOver.ts';
import { isolate, setVariables } from '../../local/lambda/environment.ts';
import { environmentOf, startStandIns, type Endings, type StandIns } from '../../local/stage/standIns.ts';

export interface InProcessOptions {
  /**
   * Whether clients call DynamoDB and SQS over HTTP, with the SDK's signatures, retries and timeouts. Otherwise they hand over
   * their calls, as on the local stage, which takes half the CPU.
   */
  readonly overHttp?: boolean;
}

/**
 * Starts stand-ins for AWS for this process, for tests that call services and handlers directly. Import modules of `lambdas/`
 * that read the environment afterwards.
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
    // Tests add and remove clients' steps after the first call.
    client.config.cacheMiddleware = false;
    handOver?.(service, client);
  });
  setVariables({
    ...environmentOf('eu-central-1', standIns),
    ALLOWED_DESTINATIONS: '127.0.0.0/8,::1/128,localhost',
  });
  await standIns.scheduler.fire();
  return {
    standIns,
    stop: async () => {
      for (let end = endings.pop(); end !== undefined; end = endings.pop()) await end();
    },
  };
}
