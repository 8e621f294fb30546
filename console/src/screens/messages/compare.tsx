/** Shows the answers of two attempts side by side. Differences are marked. */
import { useState } from 'preact/hooks';
import { isSecretHeader } from '../../../../lambdas/wire/secretHeaders.ts';
import { Opens } from '../../ui/action.tsx';
import { textOf } from '../../ui/base64.ts';
import { classes, State, Visible } from '../../ui/basics.tsx';
import { laidOut } from '../../ui/body.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/fields.tsx';
import { duration, Time } from '../../ui/time.tsx';
import { statusOf } from './messageTable.tsx';
import type { Happening } from './timeline.ts';

const numberOf = ({ last }: Happening): number => (last.retried ?? 0) + 1;

export function Compare({ of }: { readonly of: readonly Happening[] }) {
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
                options={of.map((attempt, index) => [String(index), `Attempt ${numberOf(attempt)}`] as const)}
                onInput={(text) => {
                  setChosen(side === 0 ? [Number(text), chosen[1]] : [chosen[0], Number(text)]);
                }}
              />
              {one && (
                <>
                  <p class="happened">
                    <State state="ERROR" name={statusOf(one.failure ?? one.last)} />
                    <Time at={one.at} isExact />
                    {one.tookMs !== undefined && <span class="hint">took {duration(one.tookMs)}</span>}
                  </p>
                  <pre
                    class="code"
                    tabIndex={0}
                    role="region"
                    aria-label={`Answer to attempt ${numberOf(one)}`}
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
  const headers = Object.entries(responseHeaders).flatMap(([name, values]) =>
    values.map((value) => `${name}: ${isSecretHeader(name, value) ? '…' : value}`),
  );
  const body = responseBody === undefined ? '' : (textOf(responseBody) ?? responseBody);
  return [...headers, '', ...laidOut(body).split('\n')];
}
