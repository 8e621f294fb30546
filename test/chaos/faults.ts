/** The plan of faults between the functions and AWS. */
import { services, type AwsCall, type Fault, type FaultPlan, type Service } from './faultProxy.ts';
import { streamsOf, type Chance } from './chance.ts';

/** The share of calls that fail. A message makes about ten calls. */
const faultsPerCall = 0.02;
const killsPerCall = 0.001;

/** Errors that AWS documents for each service, with their statuses. */
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

/**
 * The share of suitable calls that get a fault that has not struck yet, so that even rare kinds strike within half a minute.
 */
const missingFaultShare = 0.08;
/** The same for halved batches, because batches with several entries are rare. */
const owedPerBatch = 0.5;

const kinds = { refuse: 8, slow: 4, twice: 3, reset: 3, hang: 1, overtaken: 3, half: 3 } as const;
type Kind = keyof typeof kinds;

/** The kinds of faults. `away`: a service refuses all calls for a while. `kill`: the calling process is killed. */
export const callFaults: readonly (Kind | 'away' | 'kill')[] = [
  ...(Object.keys(kinds) as Kind[]),
  'away',
  'kill',
];

const sends = new Set(['SendMessage', 'SendMessageBatch']);
const batches = new Set(['SendMessageBatch', 'BatchWriteItem']);

export interface FaultsOptions {
  readonly seed: number;
  /** The process’s number. Each has another plan. */
  readonly number: number;
  readonly isStormy: () => boolean;
  /** Kills the process that made a call. Returns whether it existed. */
  readonly kill: (caller: string) => boolean;
  /** Gets each fault that struck, such as `dynamodb hang`. */
  readonly count: (what: string) => void;
}

export function faultPlan({ seed, number, isStormy, kill, count }: FaultsOptions): FaultPlan {
  const streams = streamsOf(seed);
  const isAway = outages(streams(`outages ${number}`));
  /** Faults that have not struck in this process. */
  const owed = new Set<Kind | 'kill'>([...(Object.keys(kinds) as Kind[]), 'kill']);

  /** Chooses a fault for a call, if any. */
  function kindOf({ operation, caller }: AwsCall, chance: Chance): Kind | 'kill' | undefined {
    const suits = (kind: Kind | 'kill'): boolean =>
      kind === 'kill'
        ? caller !== undefined
        : kind === 'overtaken'
          ? sends.has(operation)
          : kind !== 'half' || batches.has(operation);
    const suitable = [...owed].filter(suits);
    const kind = chance.is(killsPerCall)
      ? 'kill'
      : chance.is(faultsPerCall)
        ? chance.weighted(kinds)
        : suitable.includes('half') && chance.is(owedPerBatch)
          ? 'half'
          : chance.is(missingFaultShare) && suitable.length > 0
            ? chance.of(suitable)
            : undefined;
    return kind !== undefined && suits(kind) ? kind : undefined;
  }

  function faultOf(call: AwsCall, chance: Chance): Fault | undefined {
    const { service, caller } = call;
    const when = chance.is(0.5) ? 'before' : 'after';
    const [status, code] = chance.of(refusals[service]);
    if (isAway(service)) return away;
    const kind = kindOf(call, chance);
    switch (kind) {
      case undefined:
        return undefined;
      case 'kill':
        return { kind: 'reset', when, cut: () => caller !== undefined && kill(caller) };
      case 'refuse':
        // A throttled call is not made. Another failure may occur after the call was made.
        return { kind, when: status === 500 ? when : 'before', status, code };
      case 'hang':
      case 'reset':
        return { kind, when };
      case 'slow':
        return { kind, ms: chance.from(20, 1_500) };
      case 'overtaken':
        return { kind, seconds: chance.from(1, 4) };
      case 'half':
      case 'twice':
        return { kind };
    }
  }

  return {
    faultOf: (call) =>
      isStormy() ? faultOf(call, streams(`${number} ${call.service} ${call.operation}`)) : undefined,
    struck: ({ service }, fault) => {
      const kind = nameOf(fault);
      if (kind !== 'away') owed.delete(kind);
      count(`${service} ${kind}`);
    },
  };
}

/** The answer of a service that is away. */
const away: Fault = { kind: 'refuse', when: 'before', status: 503, code: 'ServiceUnavailable' };

function nameOf(fault: Fault): Kind | 'away' | 'kill' {
  if (fault.kind === 'reset' && fault.cut !== undefined) return 'kill';
  return fault === away ? 'away' : fault.kind;
}

/** About every 30 s one service is away for some seconds; the first is one that is called all the time. */
function outages(chance: Chance): (service: Service) => boolean {
  const startedAt = performance.now();
  const first = chance.from(4_000, 8_000);
  let outage = {
    from: first,
    to: first + chance.from(1_000, 4_000),
    service: chance.of<Service>(['dynamodb', 'sqs']),
  };
  return (service) => {
    const at = performance.now() - startedAt;
    while (outage.to <= at) {
      const from = outage.to + chance.from(15_000, 45_000);
      outage = { from, to: from + chance.from(1_000, 4_000), service: chance.of(services) };
    }
    return service === outage.service && at >= outage.from;
  };
}
