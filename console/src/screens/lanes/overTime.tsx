/** A lane's waiting messages and attempts over the last day. */
import { laneTimes } from '../../../../lambdas/wire/statsAnswers.ts';
import { useAsked } from '../../api/useAsked.ts';
import { Loaded } from '../../ui/resourcePage.tsx';
import { Card, count } from '../../ui/basics.tsx';
import { Bars } from '../../ui/charts.tsx';
import { Time, timeToMinute } from '../../ui/time.tsx';

/** Milliseconds. An answer reads many records. */
const everyMs = 60_000;

export function OverTime({ of }: { readonly of: { queueName: string } | { flowControlKey: string } }) {
  const asked = useAsked(laneTimes, { path: 'v2/stats/lanes', query: of }, everyMs);
  return (
    <Card title="The last 24 hours">
      <Loaded of={asked}>
        {({ hours, lookedFrom }) => {
          const names = hours.map(({ from }) => timeToMinute(from));
          const most = Math.max(...hours.map(({ depth }) => depth));
          return (
            <>
              <Bars
                title="Most that waited"
                names={names}
                summary={count(most)}
                series={[{ name: 'waiting', tone: 'warn', values: hours.map(({ depth }) => depth) }]}
              />
              <Bars
                title="Attempts"
                per="an hour"
                names={names}
                series={[
                  {
                    name: 'succeeded',
                    tone: 'good',
                    values: hours.map(({ attempts, failures = 0 }) => attempts && attempts - failures),
                  },
                  { name: 'failed', tone: 'bad', values: hours.map(({ failures }) => failures) },
                ]}
              />
              {lookedFrom !== undefined && (
                <p class="hint">
                  There were many records: attempts before <Time at={lookedFrom} isExact /> are not counted.
                </p>
              )}
            </>
          );
        }}
      </Loaded>
    </Card>
  );
}
