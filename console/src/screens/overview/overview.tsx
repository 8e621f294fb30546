/** The account at a glance: today against its limits, the delivered and failed messages, and the most frequent failures. */
import type { ComponentChildren } from 'preact';
import type * as z from 'zod/mini';
import { deadLetterCount } from '../../../../lambdas/wire/answers.ts';
import { ownStats } from '../../../../lambdas/wire/accountAnswers.ts';
import type { Readable } from '../../../../lambdas/options/option.ts';
import { useMayWrite } from '../../access.ts';
import { baseUrl } from '../../api/client.ts';
import { useAsked } from '../../api/useAsked.ts';
import { href, type Place } from '../../place.ts';
import { Button, ButtonLink, bytes, Card, count, Empty, Page } from '../../ui/basics.tsx';
import { Loaded } from '../../ui/act.tsx';
import { Body } from '../../ui/body.tsx';
import { Bars, Meter } from '../../ui/charts.tsx';
import { setFilter } from '../../ui/filters.tsx';
import { Table } from '../../ui/table.tsx';
import { Time, timeToMinute } from '../../ui/time.tsx';
import { curlOf } from '../publish/curl.ts';
import { statusOf } from '../messages/messageTable.tsx';
import { emptyDraft } from '../publish/draft.ts';
import { waitingByDay, waitingByHour } from './waiting.ts';

type Stats = Readable<z.infer<typeof ownStats>>;

/** The interval of requests for the usage, which changes slowly. */
const everyMs = 10_000;

/** `?over=days` shows 30 days in place of 48 hours. */
export function Overview({ place }: { readonly place: Place }) {
  const stats = useAsked(ownStats, { path: 'v2/stats' }, everyMs);
  return (
    <Page title="Overview">
      <Loaded of={stats}>
        {(of) =>
          isUntouched(of) ? (
            <Beginning />
          ) : (
            <>
              <Today of={of} />
              <Limits of={of} />
              <Traffic of={of} place={place} />
              <Failing hasNone={of.deadLetters === 0} />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

const isUntouched = ({ days, deadLetters }: Stats): boolean =>
  deadLetters === 0 && days.every(({ accepted, delivered }) => accepted === 0 && delivered === 0);

/** The first steps with a new account. */
function Beginning() {
  const mayWrite = useMayWrite();
  const first = { ...emptyDraft, destination: 'https://example.com/orders', body: '{"hello":"world"}' };
  return (
    <>
      <Empty title="Nothing was sent yet.">
        {mayWrite ? (
          <ButtonLink kind="main" href={href(['publish'])}>
            Publish a first message
          </ButtonLink>
        ) : (
          'What is sent, and what becomes of it, is shown here.'
        )}
      </Empty>
      {mayWrite && (
        <Card title="Or from a shell">
          <Body text={curlOf(first, baseUrl)} label="curl" />
        </Card>
      )}
    </>
  );
}

function Figure({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div class="figure">
      <span class="hint">{name}</span>
      <strong>{children}</strong>
    </div>
  );
}

function Today({ of: { today } }: { readonly of: Stats }) {
  return (
    <Card title="Today, UTC">
      <div class="figures">
        <Figure name="Accepted">{count(today.accepted)}</Figure>
        <Figure name="Delivered">{count(today.delivered)}</Figure>
        <Figure name="Failed">{count(today.failed)}</Figure>
        <Figure name="Cancelled">{count(today.cancelled)}</Figure>
        <Figure name="Received">{bytes(today.bytes)}</Figure>
      </div>
    </Card>
  );
}

const dollars = (value: number): string => `$${value.toFixed(2)}`;

function Limits({ of: { today, month, limits, inFlight, deadLetters } }: { readonly of: Stats }) {
  return (
    <Card title="Limits">
      <div class="fields">
        <Meter label="Messages today" value={today.requests} most={limits.max_requests_per_day} />
        <Meter label="Deliveries in flight" value={inFlight} most={limits.max_global_parallelism} />
        <Meter label="Dead letters" value={deadLetters} most={limits.max_dlq_size} />
        <Meter label="Cost this month" value={month.cost} most={month.budget} show={dollars} />
      </div>
    </Card>
  );
}

const spans = [
  ['', '48 hours'],
  ['days', '30 days'],
] as const;

function Traffic({ of, place }: { readonly of: Stats; readonly place: Place }) {
  const { days, hours } = of;
  const over = place.query.get('over') ?? '';
  const [flows, names, waiting] =
    over === 'days'
      ? [days, days.map(({ day }) => day), waitingByDay(of)]
      : [hours, hours.map(({ hour }) => timeToMinute(hour)), waitingByHour(of)];
  return (
    <Card
      title="Delivered, failed and waiting"
      actions={spans.map(([value, name]) => (
        <Button
          key={value}
          kind="quiet"
          aria-pressed={over === value}
          onClick={() => {
            setFilter('over', value);
          }}
        >
          {name}
        </Button>
      ))}
    >
      <Bars
        title="Delivered and failed"
        names={names}
        series={[
          { name: 'delivered', tone: 'good', values: flows.map(({ delivered }) => delivered) },
          { name: 'failed', tone: 'bad', values: flows.map(({ failed }) => failed) },
        ]}
      />
      <Bars title="Waiting" names={names} series={[{ name: 'waiting', tone: 'busy', values: waiting }]} />
      <p class="hint">
        Waiting is what was accepted and has not ended. What is accepted is counted to within a hundred, or a
        hundredth.
        {of.countedUntil !== undefined && (
          <>
            {' '}
            What ended after <Time at={of.countedUntil} isExact /> is being counted.
          </>
        )}
      </p>
    </Card>
  );
}

function Failing({ hasNone }: { readonly hasNone: boolean }) {
  const groups = useAsked(deadLetterCount, hasNone ? undefined : { path: 'v2/dlq/count' });
  return (
    <Card
      title="What fails most"
      actions={
        hasNone ? undefined : (
          <ButtonLink kind="quiet" href={href(['dead-letters'])}>
            All dead letters
          </ButtonLink>
        )
      }
    >
      {hasNone ? (
        <p class="hint">There are no dead letters.</p>
      ) : (
        <Loaded of={groups}>
          {({ groups }) => (
            <Table
              caption="Dead letters by host and status, the most frequent first"
              rows={groups.slice(0, mostGroups)}
              keyOf={({ host, responseStatus }) => `${host} ${responseStatus}`}
              columns={[
                {
                  head: 'Host',
                  isWide: true,
                  cell: ({ host, responseStatus }) => (
                    <a href={href(['dead-letters'], { host, responseStatus })}>{host}</a>
                  ),
                },
                { head: 'Status', isNumber: true, cell: statusOf },
                { head: 'Dead letters', isNumber: true, cell: ({ count: many }) => count(many) },
                { head: 'Last failed', cell: ({ lastFailedAt }) => <Time at={lastFailedAt} /> },
              ]}
            />
          )}
        </Loaded>
      )}
    </Card>
  );
}

/** The most groups; the list of dead letters has all. */
const mostGroups = 10;
