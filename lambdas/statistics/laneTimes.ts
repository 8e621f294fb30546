import type { Account } from '../account/account.ts';
import { badField } from '../error/httpError.ts';
import { depthsOfKey } from '../lane/flowControl.ts';
import { depthsOfQueue } from '../lane/queues.ts';
import type { LogLane } from './store/log.ts';
import { hourMs, now } from '../shared/clock.ts';
import type { Answer } from '../wire/answers.ts';
import type * as answers from '../wire/statsAnswers.ts';
import { parseName } from '../value/names.ts';
import { readBack } from './readAttempts.ts';
import { stepsOf } from './rules/hostTimes.ts';

interface Asked {
  readonly queueName?: string;
  readonly flowControlKey?: string;
}

function laneOf({ queueName, flowControlKey }: Asked): LogLane {
  if (queueName !== undefined && flowControlKey === undefined)
    return ['queueName', parseName('queueName', queueName)];
  if (flowControlKey !== undefined && queueName === undefined) return ['flowControlKey', flowControlKey];
  throw badField(
    `queueName and flowControlKey are ${queueName === undefined ? 'missing' : 'both given'}; allowed is one of them.`,
  );
}

/**
 * Shows how many attempts of a queue or a flow-control key waited and ended in the last 24 hours.
 *
 * @throws HttpError 400 or 404
 */
export async function getLaneTimes(
  account: Account,
  asked: Asked,
): Promise<Answer<typeof answers.laneTimes>> {
  const lane = laneOf(asked);
  const time = now();
  const [attribute, name] = lane;
  const depths = await (attribute === 'queueName' ? depthsOfQueue : depthsOfKey)(account, name);
  const [{ from } = { from: time }] = depths;
  const { attempts, lookedFrom } = await readBack(account, from, time, { of: lane });
  const steps = stepsOf(attempts, from, from + depths.length * hourMs, depths.length);
  return {
    lookedFrom,
    hours: depths.map(({ depth, from: at }, index) => {
      // If an hour was not read completely, its attempts are unknown.
      const step = at < (lookedFrom ?? 0) ? undefined : steps[index];
      return { from: at, depth, attempts: step?.attempts, failures: step?.failures };
    }),
  };
}
