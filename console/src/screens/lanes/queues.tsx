/** Queues: their messages are delivered in order. */
import type { Answer } from '../../../../lambdas/wire/answers.ts';
import { queue, queues } from '../../../../lambdas/wire/laneAnswers.ts';
import { path } from '../../api/client.ts';
import { oftenMs } from '../../api/useAsked.ts';
import { ResourceList } from '../../lists/resourceList.tsx';
import { go, href, type Place } from '../../place.ts';
import { ActionForm, change, Deletes } from '../../ui/action.tsx';
import { ResourcePage } from '../../ui/resourcePage.tsx';
import { Card, count, countOf, DetailList } from '../../ui/basics.tsx';
import { Time } from '../../ui/time.tsx';
import { Head, Pace, PausedBy } from './line.tsx';
import { FairKeys, GlobalParallelism, LaneState, OverTime, Pause, WaitingMessages } from './parts.tsx';

type Queue = Answer<typeof queue>;

const list = ['queues'];

export function Queues({ place }: { readonly place: Place }) {
  const [, name] = place.path;
  if (name !== undefined) return <OneQueue name={name} />;
  return (
    <ResourceList
      title="Queues"
      place={place}
      shape={queues}
      path="v2/queues"
      rowsOf={(all) => all}
      actions={() => <EditQueue />}
      empty={[
        'No queues yet.',
        <p>
          Messages of a queue are delivered one after another. The first message to a queue also creates it.
        </p>,
      ]}
      caption="Queues, by name"
      keyOf={({ name }) => name}
      columns={[
        { head: 'Name', text: ({ name }) => name, to: ({ name }) => href([...list, name]) },
        { head: 'State', cell: ({ paused }) => <LaneState isPaused={paused} /> },
        { head: 'Waiting or in flight', count: ({ lag }) => lag },
        { head: 'Parallelism', count: ({ parallelism }) => parallelism },
      ]}
      acts={({ name, paused }, again) => (
        <Pause of="queues" name={name} isPaused={paused} then={again} isQuiet />
      )}
    >
      <GlobalParallelism />
    </ResourceList>
  );
}

const OneQueue = ({ name }: { readonly name: string }) => (
  <ResourcePage
    shape={queue}
    path={path`v2/queues/${name}`}
    everyMs={oftenMs}
    title={name}
    back={{ href: href(list), name: 'Queues' }}
    links={<WaitingMessages of={{ queueName: name }} />}
    actions={(of, again) => (
      <>
        <Pause of="queues" name={name} isPaused={of.paused} then={again} />
        <EditQueue of={of} then={again} />
        <Deletes
          name="Delete"
          title={`Delete “${name}”?`}
          yes="Delete the queue"
          effect={`It has ${countOf(of.lag, 'message')}. Waiting messages are cancelled; those in flight, ${count(of.parallelism)} at most, continue. The next message to the queue creates it again.`}
          request={{ path: path`v2/queues/${name}` }}
          said={`The queue “${name}” has been deleted.`}
          leadsTo={href(list)}
        />
      </>
    )}
  >
    {(of) => (
      <>
        <Card>
          <DetailList
            of={[
              [
                'State',
                <span>
                  <LaneState isPaused={of.paused} /> {of.paused && <PausedBy name={name} />}
                </span>,
              ],
              ['Waiting or in flight', count(of.lag)],
              ['Oldest published', of.oldestAt === undefined ? 'none' : <Time at={of.oldestAt} />],
              ['Maximum in flight', count(of.parallelism)],
              ['Created', <Time at={of.createdAt} />],
              ['Changed', <Time at={of.updatedAt} />],
            ]}
          />
        </Card>
        {of.lag > 0 && <Head of={of} />}
        <FairKeys of={of.fairKeys} />
        <Pace of={of} />
        <OverTime of={{ queueName: name }} />
      </>
    )}
  </ResourcePage>
);

const EditQueue = ({ of, then }: { readonly of?: Queue; readonly then?: () => void }) => (
  <ActionForm
    name={of ? 'Change parallelism' : 'New queue'}
    kind={of ? 'plain' : 'main'}
    title={of ? 'Change parallelism' : 'New queue'}
    yes="Save"
    then={then}
    fields={{
      queueName: {
        label: 'Name',
        value: of?.name,
        isShown: () => of === undefined,
        required: true,
        autoFocus: true,
        hint: 'Letters, digits, “.”, “_” and “-”. An existing queue is changed.',
      },
      parallelism: {
        label: 'Parallelism',
        type: 'number',
        value: String(of?.parallelism ?? 1),
        required: true,
        hint: 'Messages that may be in flight at once. With 1, they are delivered strictly one after another.',
      },
    }}
    work={async ({ queueName, parallelism }) => {
      await change({ path: 'v2/queues', body: { queueName, parallelism: Number(parallelism) } });
      if (of === undefined) go(href([...list, queueName]));
      return `The queue “${queueName}” has been saved.`;
    }}
  />
);
