/** Queues: their messages are delivered in order. */
import { useState } from 'preact/hooks';
import { queue, queues, type Answer } from '../../../../lambdas/wire/answers.ts';
import { useMayWrite } from '../../access.ts';
import { path } from '../../api/client.ts';
import { defaultIntervalMs, useAsked, usePages } from '../../api/useAsked.ts';
import { go, href, type Place } from '../../place.ts';
import { change, Opens, Loaded } from '../../ui/act.tsx';
import { Card, count, countOf, Cut, Empty, DetailList, Page } from '../../ui/basics.tsx';
import { TextField } from '../../ui/fields.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Listed, Table, type Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { Head, Pace, PausedBy } from './line.tsx';
import { OverTime } from './overTime.tsx';
import { FairKeys, GlobalParallelism, LaneState, Oldest, Pause, WaitingMessages } from './parts.tsx';

type Queue = Answer<typeof queue>;

const list = ['queues'];

export function Queues({ place: { path: place } }: { readonly place: Place }) {
  const [, name] = place;
  return name === undefined ? <AllQueues /> : <OneQueue name={name} />;
}

function AllQueues() {
  const mayWrite = useMayWrite();
  const page = usePages(queues, { path: 'v2/queues' }, (all) => all);
  const make = mayWrite && (
    <Opens name="New queue" kind="main">
      {(close) => <EditQueue onClose={close} />}
    </Opens>
  );
  const actions: Column<Queue> = {
    head: 'Actions',
    isNumber: true,
    cell: ({ name, paused }) => <Pause of="queues" name={name} isPaused={paused} then={page.again} isQuiet />,
  };
  return (
    <Page title="Queues" actions={make}>
      <GlobalParallelism />
      <Listed
        list={page}
        empty={
          <Empty title="No queues yet.">
            <p>
              Messages of a queue are delivered one after another. The first message to a queue also creates
              it.
            </p>
          </Empty>
        }
      >
        {(all) => (
          <Table
            caption="Queues, by name"
            rows={all}
            keyOf={({ name }) => name}
            columns={[
              {
                head: 'Name',
                isWide: true,
                cell: ({ name }) => (
                  <a href={href([...list, name])}>
                    <Cut text={name} />
                  </a>
                ),
              },
              { head: 'State', cell: ({ paused }) => <LaneState isPaused={paused} /> },
              { head: 'Waiting or in flight', isNumber: true, cell: ({ lag }) => count(lag) },
              { head: 'Parallelism', isNumber: true, cell: ({ parallelism }) => count(parallelism) },
              ...(mayWrite ? [actions] : []),
            ]}
          />
        )}
      </Listed>
    </Page>
  );
}

function OneQueue({ name }: { readonly name: string }) {
  const mayWrite = useMayWrite();
  const asked = useAsked(queue, { path: path`v2/queues/${name}` }, defaultIntervalMs);
  const { answer, again: then } = asked;
  return (
    <Page
      title={name}
      back={{ href: href(list), name: 'Queues' }}
      actions={
        answer && (
          <>
            <WaitingMessages filter="queueName" name={name} />
            {mayWrite && (
              <>
                <Pause of="queues" name={name} isPaused={answer.paused} then={then} />
                <Opens name="Change parallelism" then={then}>
                  {(close) => <EditQueue of={answer} onClose={close} />}
                </Opens>
                <Opens name="Delete">{(close) => <DeleteQueue of={answer} onClose={close} />}</Opens>
              </>
            )}
          </>
        )
      }
    >
      <Loaded of={asked}>
        {(of) => {
          const { paused, lag, oldestAt, parallelism, createdAt, updatedAt } = of;
          return (
            <>
              <Card>
                <DetailList
                  of={[
                    [
                      'State',
                      <span>
                        <LaneState isPaused={paused} /> {paused && <PausedBy name={name} />}
                      </span>,
                    ],
                    ['Waiting or in flight', count(lag)],
                    ['Oldest published', <Oldest at={oldestAt} />],
                    ['At once, at most', count(parallelism)],
                    ['Created', <Time at={createdAt} />],
                    ['Changed', <Time at={updatedAt} />],
                  ]}
                />
              </Card>
              {lag > 0 && <Head of={of} />}
              <FairKeys of={of.fairKeys} />
              <Pace of={of} />
              <OverTime of={{ queueName: name }} />
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

function DeleteQueue({
  of: { name, lag, parallelism },
  onClose,
}: {
  readonly of: Queue;
  readonly onClose: (isDone: boolean) => void;
}) {
  const work = async (): Promise<string> => {
    await change({ method: 'DELETE', path: path`v2/queues/${name}` });
    go(href(list));
    return `The queue “${name}” is deleted.`;
  };
  return (
    <Confirm title={`Delete “${name}”?`} yes="Delete the queue" isDangerous work={work} onClose={onClose}>
      <p>
        It has {countOf(lag, 'message')}. Those that wait are cancelled; those that are on their way,{' '}
        {count(parallelism)} at most, go on. The next message to it makes it again.
      </p>
    </Confirm>
  );
}

function EditQueue({ of, onClose }: { readonly of?: Queue; readonly onClose: (isDone: boolean) => void }) {
  const [name, setName] = useState(of?.name ?? '');
  const [parallelism, setParallelism] = useState(String(of?.parallelism ?? 1));
  const work = async (): Promise<string> => {
    await change({ path: 'v2/queues', body: { queueName: name, parallelism: Number(parallelism) } });
    if (of === undefined) go(href([...list, name]));
    return `The queue “${name}” is saved.`;
  };
  return (
    <Confirm title={of ? 'Change parallelism' : 'New queue'} yes="Save" work={work} onClose={onClose}>
      {of === undefined && (
        <TextField
          label="Name"
          about="queueName"
          value={name}
          onInput={setName}
          required
          autoFocus
          hint="Letters, digits, “.”, “_” and “-”. An existing queue is changed."
        />
      )}
      <TextField
        label="Parallelism"
        about="parallelism"
        type="number"
        value={parallelism}
        onInput={setParallelism}
        required
        hint="Messages that may be in flight at once. With 1, they are delivered strictly one after another."
      />
    </Confirm>
  );
}
