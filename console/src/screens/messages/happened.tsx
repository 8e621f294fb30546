import { State } from '../../ui/basics.tsx';
import { Body, contentTypeOf, Headers } from '../../ui/body.tsx';
import { duration, Time } from '../../ui/time.tsx';
import { statusOf } from './messageTable.tsx';
import type { Happening } from './timeline.ts';

/** States of log entries that have other names in the timeline. */
const names: Readonly<Record<string, string>> = {
  CREATED: 'published',
  RETRY: 'failed',
  ERROR: 'failed',
  HELD: 'waits for its host',
  ACTIVE: 'waits for its completion',
};

export function Happened({
  one: { at, last, failure, tookMs },
  isOpen,
}: {
  readonly one: Happening;
  readonly isOpen: boolean;
}) {
  const { state, retried, nextDeliveryTime } = last;
  const name = names[state];
  const attempt = retried === undefined || state === 'HELD' ? undefined : `Attempt ${retried + 1}`;
  return (
    <li>
      <div class="happened">
        <State state={state} {...(name !== undefined && { name })} />
        {attempt !== undefined && (
          <strong>
            {attempt}: {state === 'ACTIVE' ? '202' : statusOf(failure ?? last)}
          </strong>
        )}
        <Time at={at} isExact />
        {tookMs !== undefined && <span class="hint">took {duration(tookMs)}</span>}
        {nextDeliveryTime !== undefined && (
          <span class="hint">
            next <Time at={nextDeliveryTime} isExact />
          </span>
        )}
      </div>
      {state === 'DELIVERED' && (
        <p class="hint">
          Only the status of a successful answer is kept. Headers and body are kept if an attempt fails.
        </p>
      )}
      {failure?.error !== undefined && <p class="wrong">{failure.error}</p>}
      {failure !== undefined && failure.error === undefined && (
        <details open={isOpen}>
          <summary>Answer</summary>
          <Headers of={failure.responseHeaders ?? {}} label={`Headers of the answer: ${attempt}`} />
          <Body
            base64={failure.responseBody}
            type={contentTypeOf(failure.responseHeaders)}
            label={`the body of the answer: ${attempt}`}
          />
        </details>
      )}
    </li>
  );
}
