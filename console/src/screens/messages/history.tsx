/** The history of a message from its log, and a comparison of two failed attempts. */
import { useState } from 'preact/hooks';
import { logPage } from '../../../../lambdas/wire/answers.ts';
import { isSecretHeader } from '../../../../lambdas/wire/secretHeaders.ts';
import { usePages, type Paged } from '../../api/useAsked.ts';
import { Opens } from '../../ui/action.tsx';
import { textOf } from '../../ui/base64.ts';
import { Card, classes, State, Visible } from '../../ui/basics.tsx';
import { Body, contentTypeOf, Headers, laidOut } from '../../ui/body.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/fields.tsx';
import { pairsOf } from '../../ui/headerLines.ts';
import { Listed } from '../../ui/table.tsx';
import { duration, Time } from '../../ui/time.tsx';
import { Actor } from '../audit/parts.tsx';
import { ofAttempts, statusOf } from './messageTable.tsx';
import { happeningsOf, type Happening, type LogEntry } from './timeline.ts';

export const useLog = (messageId: string, everyMs: number): Paged<LogEntry> =>
  usePages(
    logPage,
    { path: 'v2/logs', query: { messageIds: messageId, count: 100 } },
    ({ logs }) => logs,
    everyMs,
  );

interface HistoryProps {
  readonly of: Paged<LogEntry>;
  /** Whether the newest answer is open at first. */
  readonly isOpen?: boolean;
}

export function History({ of, isOpen = false }: HistoryProps) {
  const happened = happeningsOf(of.items ?? []);
  return (
    <Card title="History" actions={<Compare of={happened} />}>
      <Listed list={of} empty={<p class="hint">The log no longer has it.</p>}>
        {() => (
          <ol class="timeline">
            {happened.map((one, index) => (
              <Happened key={`${one.last.state} ${one.at}`} one={one} isOpen={isOpen && index === 0} />
            ))}
          </ol>
        )}
      </Listed>
    </Card>
  );
}

/** States that have other names in the timeline. */
const names: Readonly<Record<string, string>> = {
  CREATED: 'published',
  RETRY: 'failed',
  ERROR: 'failed',
  HELD: 'waits for its host',
};

function Happened({
  one: { at, last, failure, tookMs },
  isOpen,
}: {
  readonly one: Happening;
  readonly isOpen: boolean;
}) {
  const { state, retried, nextDeliveryTime } = last;
  const answered = failure ?? last;
  const { completedBy, comment } = answered;
  const name = names[state];
  const attempt = retried === undefined || state === 'HELD' ? undefined : `Attempt ${attemptOf(last)}`;
  return (
    <li>
      <div class="happened row">
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
      {state === 'DELIVERED' && last.responseHeaders === undefined && (
        <p class="hint">
          Only the status of a successful answer is kept, unless the account’s max_delivered_answer_size is
          set.
        </p>
      )}
      {(completedBy ?? comment) !== undefined && (
        <p>
          Completed
          {completedBy !== undefined && (
            <>
              {' '}
              by <Actor of={completedBy} isInSentence />
            </>
          )}
          {comment !== undefined && (
            <>
              : <Visible text={comment} />
            </>
          )}
        </p>
      )}
      {failure?.error !== undefined && <p class="wrong">{failure.error}</p>}
      {answered?.responseHeaders !== undefined && answered.error === undefined && (
        <details open={isOpen}>
          <summary>Answer</summary>
          <Headers of={answered.responseHeaders} label={`Headers of the answer: ${attempt}`} />
          <Body
            base64={answered.responseBody}
            type={contentTypeOf(answered.responseHeaders)}
            label={`the body of the answer: ${attempt}`}
          />
        </details>
      )}
    </li>
  );
}

/** Such as "2 of 4". The API counts retries from 0. */
function attemptOf({ retried = 0, maxRetries = 0 }: LogEntry): string {
  return ofAttempts(retried + 1, maxRetries);
}

function Compare({ of }: { readonly of: readonly Happening[] }) {
  const failed = of.filter(({ failure }) => failure !== undefined);
  if (failed.length < 2) return null;
  return (
    <Opens name="Compare answers" kind="quiet">
      {(close) => (
        <Comparison
          of={failed}
          onClose={() => {
            close(false);
          }}
        />
      )}
    </Opens>
  );
}

/** @param of the failed attempts, newest first */
function Comparison({ of, onClose }: { readonly of: readonly Happening[]; readonly onClose: () => void }) {
  const [chosen, setChosen] = useState<readonly [number, number]>([1, 0]);
  const sides = chosen.map((index) => of[index]);
  const texts = sides.map((one) => (one === undefined ? [] : linesOf(one)));
  return (
    <Dialog title="Compare answers" isWide onClose={onClose}>
      <div class="compared">
        {sides.map((one, side) => {
          const others = new Set(texts[1 - side]);
          return (
            <section key={side} aria-label={side === 0 ? 'Left' : 'Right'}>
              <Field
                label={side === 0 ? 'One attempt' : 'The other'}
                value={String(chosen[side])}
                options={of.map(
                  (attempt, index) => [String(index), `Attempt ${attemptOf(attempt.last)}`] as const,
                )}
                onInput={(text) => {
                  setChosen(side === 0 ? [Number(text), chosen[1]] : [chosen[0], Number(text)]);
                }}
              />
              {one && (
                <>
                  <p class="happened row">
                    <State state="ERROR" name={statusOf(one.failure ?? one.last)} />
                    <Time at={one.at} isExact />
                    {one.tookMs !== undefined && <span class="hint">took {duration(one.tookMs)}</span>}
                  </p>
                  <pre
                    class="code"
                    tabIndex={0}
                    role="region"
                    aria-label={`Answer to attempt ${attemptOf(one.last)}`}
                  >
                    {texts[side]?.map((line, index) => (
                      <span key={index} class={classes('line', !others.has(line) && 'other')}>
                        <Visible text={line} />
                        {'\n'}
                      </span>
                    ))}
                  </pre>
                </>
              )}
            </section>
          );
        })}
      </div>
      <p class="hint">Lines that the other answer does not have are marked.</p>
    </Dialog>
  );
}

function linesOf({ failure }: Happening): readonly string[] {
  if (failure === undefined) return [];
  const { error, responseHeaders = {}, responseBody } = failure;
  if (error !== undefined) return [error];
  const headers = pairsOf(responseHeaders).map(
    ([name, value]) => `${name}: ${isSecretHeader(name, value) ? '…' : value}`,
  );
  const body = responseBody === undefined ? '' : (textOf(responseBody) ?? responseBody);
  return [...headers, '', ...laidOut(body).split('\n')];
}
