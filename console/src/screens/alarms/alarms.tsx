import { useState } from 'preact/hooks';
import type { Answer } from '../../../../lambdas/wire/answers.ts';
import {
  alarmKinds,
  alarms,
  kindTable,
  testedAlarm,
  type AlarmKind,
} from '../../../../lambdas/wire/alarms.ts';
import { useMayWrite } from '../../access.ts';
import { ask } from '../../api/client.ts';
import { href } from '../../place.ts';
import { Act, Deletes } from '../../ui/action.tsx';
import { ResourcePage } from '../../ui/resourcePage.tsx';
import { Card, DetailList, Empty, Visible } from '../../ui/basics.tsx';
import { Table } from '../../ui/table.tsx';
import { AlarmsForm, numbersOf } from './form.tsx';
import { hrefOfHost, hrefOfSchedule } from '../links.tsx';

type Alarms = Answer<typeof alarms>;
type Open = Alarms['open'][number];

/** The service checks alarms only every five minutes. */
const everyMs = 30_000;

export function Alarms() {
  const mayWrite = useMayWrite();
  return (
    <ResourcePage
      shape={alarms}
      path="v2/alarms"
      everyMs={everyMs}
      title="Alarms"
      actions={({ settings }, again) => settings !== undefined && <Acts then={again} />}
    >
      {({ settings, open }, again) => (
        <>
          {settings && <OpenNow of={open} />}
          {mayWrite ? (
            <AlarmsForm of={settings} then={again} key={String(settings !== undefined)} />
          ) : (
            <Card title="Notify about">
              {settings === undefined ? <Empty title="No alarms are set up." /> : <Settings of={settings} />}
            </Card>
          )}
        </>
      )}
    </ResourcePage>
  );
}

function Acts({ then }: { readonly then: () => void }) {
  const [messageId, setMessageId] = useState<string>();
  const test = async (): Promise<string> => {
    setMessageId(undefined);
    const sent = await ask(testedAlarm, { method: 'POST', path: 'v2/alarms/test' });
    setMessageId(sent.messageId);
    return 'The test has been sent.';
  };
  return (
    <>
      {messageId !== undefined && <a href={href(['messages', messageId])}>See the outcome of the test</a>}
      <Act name="Send a test" work={test} />
      <Deletes
        name="Remove…"
        title="Remove the alarms?"
        yes="Remove"
        effect="You are no longer notified when alarms begin, or when those that are open end."
        request={{ path: 'v2/alarms' }}
        said="The alarms have been removed."
        then={then}
      />
    </>
  );
}

/** The screen for the subjects of each kind; otherwise the overview. */
const addresses: Readonly<Partial<Record<AlarmKind, (subject: string) => string>>> = {
  deadLetters: () => href(['dead-letters']),
  hosts: (host) => hrefOfHost(host),
  schedules: (scheduleId) => hrefOfSchedule(scheduleId),
  runs: (workflowRunId) => href(['runs'], { workflowRunId }),
};

const addressOf = ({ kind, subject }: Open): string =>
  (subject === '*' ? undefined : addresses[kind]?.(subject)) ?? href(['overview']);

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
            head: 'Alarm',
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
          { head: 'Since', time: ({ openedAt }) => openedAt },
          { head: 'Notified', cell: ({ isTold }) => (isTold ? 'yes' : 'after the quiet hours') },
        ]}
      />
    )}
  </Card>
);

function Settings({ of }: { readonly of: NonNullable<Alarms['settings']> }) {
  const { url, format, quietHours } = of;
  const watched = alarmKinds
    .filter((kind) => (of[kind] ?? false) !== false)
    .map((kind) =>
      kindTable[kind].words.replace(/\{(\w+)\}/g, (_, name: string) => String(numbersOf(kind, of)[name])),
    );
  return (
    <DetailList
      of={[
        [
          'Sent to',
          <>
            <Visible text={url} /> ({format})
          </>,
        ],
        ['Notify about', watched.join(', ')],
        ['Quiet hours', quietHours && `${quietHours.from} to ${quietHours.to}, ${quietHours.timezone}`],
      ]}
    />
  );
}
