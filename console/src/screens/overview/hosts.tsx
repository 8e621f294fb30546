import { hostTimes } from '../../../../lambdas/wire/statsAnswers.ts';
import { useAsked } from '../../api/useAsked.ts';
import { Loaded } from '../../ui/resourcePage.tsx';
import { Card, count, countOf, percentOf } from '../../ui/basics.tsx';
import { Table } from '../../ui/table.tsx';
import { Time, inMs } from '../../ui/time.tsx';
import { hrefOfHost } from '../links.tsx';

/** Milliseconds. An answer reads a thousand records. */
const hostsEveryMs = 30_000;
/** The most hosts on the page. The answer has all of them. */
const mostHosts = 10;

export function Hosts() {
  const asked = useAsked(hostTimes, { path: 'v2/stats/hosts' }, hostsEveryMs);
  return (
    <Card title="How hosts answer">
      <Loaded of={asked}>
        {({ attempts, from, hosts }) =>
          from === undefined ? (
            <p class="hint">No attempt was made recently.</p>
          ) : (
            <>
              <Table
                caption="Attempts, failures and answer times by host"
                rows={hosts.slice(0, mostHosts)}
                keyOf={({ host }) => host}
                columns={[
                  {
                    head: 'Host',
                    isWide: true,
                    text: ({ host }) => host,
                    to: ({ host }) => hrefOfHost(host),
                  },
                  { head: `Of the last ${countOf(attempts, 'attempt')}`, count: (one) => one.attempts },
                  {
                    head: 'Failures',
                    isNumber: true,
                    cell: ({ failures, attempts: all }) =>
                      failures === 0 ? '0' : `${count(failures)} (${percentOf(failures, all)})`,
                  },
                  { head: 'Failing since', isExtra: true, time: ({ failingSince }) => failingSince },
                  { head: 'p50', isNumber: true, cell: ({ p50 }) => inMs(p50) },
                  { head: 'p95', isNumber: true, cell: ({ p95 }) => inMs(p95) },
                ]}
              />
              <p class="hint">
                Of the last {countOf(attempts, 'attempt')}, since <Time at={from} />, retries and callbacks
                included. The page of a host has those of a day.
                {hosts.length > mostHosts && ` The ${mostHosts} busiest of ${count(hosts.length)} hosts.`}
              </p>
            </>
          )
        }
      </Loaded>
    </Card>
  );
}
