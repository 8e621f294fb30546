/** The account's alarms: those that are open, a test, and the settings. */
import { useState } from 'preact/hooks';
import type { Answer } from '../../../../lambdas/wire/answers.ts';
import { alarms, testedAlarm, type AlarmKind } from '../../../../lambdas/wire/alarms.ts';
import { useMayWrite } from '../../access.ts';
import { ask } from '../../api/client.ts';
import { useAction, useAsked } from '../../api/useAsked.ts';
import { href } from '../../place.ts';
import { change, Loaded, Opens } from '../../ui/act.tsx';
import { Button, Card, Empty, Page, Visible } from '../../ui/basics.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { hrefOfHost } from '../hosts/links.ts';
import { hrefOf as hrefOfSchedule } from '../schedules/links.ts';
import { AlarmsForm } from './form.tsx';

type Alarms = Answer<typeof alarms>;
type Open = Alarms['open'][number];

/** The service checks alarms only every five minutes. */
const everyMs = 30_000;

export function Alarms() {
  const asked = useAsked(alarms, { path: 'v2/alarms' }, everyMs);
  const mayWrite = useMayWrite();
  const isSet = asked.answer?.settings !== undefined;
  return (
    <Page title="Alarms" actions={mayWrite && isSet && <Acts then={asked.again} />}>
      <Loaded of={asked}>
        {({ settings, open }) => (
          <>
            {settings && <OpenNow of={open} />}
            {mayWrite ? (
              <AlarmsForm of={settings} then={asked.again} key={String(isSet)} />
            ) : (
              <Card title="What is told">
                {settings === undefined ? <Empty title="No alarms are set." /> : <Settings of={settings} />}
              </Card>
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Acts({ then }: { readonly then: () => void }) {
  const action = useAction('toast');
  const [messageId, setMessageId] = useState<string>();
  const test = async (): Promise<string> => {
    setMessageId(undefined);
    const sent = await ask(testedAlarm, { method: 'POST', path: 'v2/alarms/test' });
    setMessageId(sent.messageId);
    return 'The test is sent.';
  };
  return (
    <>
      {messageId !== undefined && <a href={href(['messages', messageId])}>See the outcome of the test</a>}
      <Button isBusy={action.isRunning} onClick={() => void action.run(test)}>
        Send a test
      </Button>
      <Opens name="Remove…" then={then}>
        {(onClose) => (
          <Confirm
            title="Remove the alarms?"
            yes="Remove"
            isDangerous
            onClose={onClose}
            work={async () => {
              await change({ method: 'DELETE', path: 'v2/alarms' });
              return 'The alarms are removed.';
            }}
          >
            <p>Alarms are no longer reported, nor is the end of those that are open.</p>
          </Confirm>
        )}
      </Opens>
    </>
  );
}

const addresses: Readonly<Record<AlarmKind, (subject: string) => string>> = {
  deadLetters: () => href(['dead-letters']),
  hosts: (host) => hrefOfHost(host),
  schedules: (scheduleId) => hrefOfSchedule(scheduleId),
  runs: (workflowRunId) => href(['runs'], { workflowRunId }),
  limits: () => href(['overview']),
};

const addressOf = ({ kind, subject }: Open): string =>
  subject === '*' ? href(['overview']) : addresses[kind](subject);

const OpenNow = ({ of }: { readonly of: readonly Open[] }) => (
  <Card title="Open now">
    {of.length === 0 ? (
      <Empty title="Nothing is open.">The account is checked every five minutes.</Empty>
    ) : (
      <Table
        caption="Open alarms"
        rows={of}
        keyOf={({ kind, subject }) => `${kind} ${subject}`}
        columns={[
          {
            head: 'What',
            isWide: true,
            cell: (one) => (
              <>
                <a href={addressOf(one)}>
                  <Visible text={one.title} />
                </a>
                <p class="hint">
                  <Visible text={one.detail} />
                </p>
              </>
            ),
          },
          { head: 'Since', cell: ({ openedAt }) => <Time at={openedAt} /> },
          { head: 'Told', cell: ({ isTold }) => (isTold ? 'yes' : 'after the quiet hours') },
        ]}
      />
    )}
  </Card>
);

function Settings({ of }: { readonly of: NonNullable<Alarms['settings']> }) {
  const { url, format, deadLetters, hosts, schedules, runs, limits, quietHours } = of;
  const watched = [
    deadLetters && `more than ${deadLetters.above} dead letters in ${deadLetters.minutes} minutes`,
    hosts && 'hosts that are down',
    schedules && 'schedules that fail',
    runs && 'runs that hang',
    limits !== undefined && `limits used by ${limits} %`,
  ].filter(Boolean);
  return (
    <dl class="detail-list">
      <div>
        <dt>Where</dt>
        <dd>
          <Visible text={url} /> ({format})
        </dd>
      </div>
      <div>
        <dt>When there are</dt>
        <dd>{watched.join(', ')}</dd>
      </div>
      {quietHours && (
        <div>
          <dt>Quiet hours</dt>
          <dd>
            {quietHours.from} to {quietHours.to}, {quietHours.timezone}
          </dd>
        </div>
      )}
    </dl>
  );
}
