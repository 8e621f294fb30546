/** The plan of what goes wrong between the functions and AWS. */
import type { AwsCall, Fault, FaultPlan, Service } from '../../local/aws/door.ts';
import { streamsOf, type Chance } from './chance.ts';

/** Of so many calls one goes wrong: a message makes about ten. */
const faultsPerCall = 0.02;
const killsPerCall = 0.001;

/** Refusals that AWS documents for each service, with their statuses. */
const refusals: Readonly<Record<Service, readonly (readonly [status: number, code: string])[]>> = {
  dynamodb: [
    [400, 'ThrottlingException'],
    [400, 'ProvisionedThroughputExceededException'],
    [400, 'RequestLimitExceeded'],
    [500, 'InternalServerError'],
    [503, 'ServiceUnavailable'],
  ],
  sqs: [
    [400, 'RequestThrottled'],
    [500, 'InternalFailure'],
    [503, 'ServiceUnavailable'],
  ],
  scheduler: [
    [429, 'ThrottlingException'],
    [500, 'InternalServerException'],
  ],
  s3: [
    [503, 'SlowDown'],
    [500, 'InternalError'],
    [503, 'ServiceUnavailable'],
  ],
  secrets: [
    [400, 'ThrottlingException'],
    [500, 'InternalServiceError'],
  ],
};

const kinds = { refuse: 8, slow: 4, twice: 3, reset: 3, hang: 1, overtaken: 3, half: 3 } as const;

const sends = new Set(['SendMessage', 'SendMessageBatch']);
const batches = new Set(['SendMessageBatch', 'BatchWriteItem']);

export interface FaultsOptions {
  readonly seed: number;
  /** Which start of the stage it is: each has another plan. */
  readonly generation: number;
  readonly isStormy: () => boolean;
  /** Kills the process that made a call. */
  readonly kill: (caller: string) => void;
  /** Is told of each fault. */
  readonly count: (what: string) => void;
}

export function faultPlan({ seed, generation, isStormy, kill, count }: FaultsOptions): FaultPlan {
  const streams = streamsOf(seed);
  const isAway = outages(streams(`outages ${generation}`));

  function faultOf(call: AwsCall, chance: Chance): Fault | undefined {
    const { service, operation, caller } = call;
    const when = chance.is(0.5) ? 'before' : 'after';
    const [status, code] = chance.of(refusals[service]);
    if (isAway(service)) return { kind: 'refuse', when: 'before', status: 503, code: 'ServiceUnavailable' };
    if (chance.is(killsPerCall) && caller !== undefined) {
      return {
        kind: 'reset',
        when,
        cut: () => {
          kill(caller);
        },
      };
    }
    if (!chance.is(faultsPerCall)) return undefined;
    const kind = chance.weighted(kinds);
    switch (kind) {
      case 'refuse':
        // Nothing is made of a call that is throttled. A failure may come after it was made.
        return { kind, when: status === 500 ? when : 'before', status, code };
      case 'hang':
      case 'reset':
        return { kind, when };
      case 'slow':
        return { kind, ms: chance.from(20, 1_500) };
      case 'twice':
        return { kind };
      case 'overtaken':
        return sends.has(operation) ? { kind, seconds: chance.from(1, 4) } : undefined;
      case 'half':
        return batches.has(operation) ? { kind } : undefined;
    }
  }

  return (call) => {
    if (!isStormy()) return undefined;
    const fault = faultOf(call, streams(`${generation} ${call.service} ${call.operation}`));
    if (fault !== undefined) {
      const isKill = fault.kind === 'reset' && fault.cut !== undefined;
      count(`${call.service} ${isKill ? 'kill' : fault.kind}`);
    }
    return fault;
  };
}

/** Every half a minute or so one service is away for some seconds. */
function outages(chance: Chance): (service: Service) => boolean {
  const services: readonly Service[] = ['dynamodb', 'sqs', 'scheduler', 's3', 'secrets'];
  const startedAt = performance.now();
  let outage = { from: 0, to: 0, service: chance.of(services) };
  return (service) => {
    const at = performance.now() - startedAt;
    while (outage.to <= at) {
      const from = outage.to + chance.from(15_000, 45_000);
      outage = { from, to: from + chance.from(1_000, 4_000), service: chance.of(services) };
    }
    return service === outage.service && at >= outage.from;
  };
}
