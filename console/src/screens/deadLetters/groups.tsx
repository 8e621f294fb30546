/** Failures in groups, by host and status, reason, label or URL. Each group has a link to its list. */
import type { Answer } from '../../../../lambdas/wire/answers.ts';
import type { deadLetterCount } from '../../../../lambdas/wire/statsAnswers.ts';
import { href, type Place } from '../../place.ts';
import { Button, Card, State, useSwitch } from '../../ui/basics.tsx';
import { FilterChoices } from '../../ui/filters.tsx';
import { Table } from '../../ui/table.tsx';

export type Counts = Answer<typeof deadLetterCount>;

interface Group {
  readonly name: string;
  readonly status?: number;
  readonly count: number;
  readonly firstFailedAt: number;
  readonly lastFailedAt: number;
  readonly filters: Readonly<Record<string, string>>;
}

export interface Kind {
  readonly by: string;
  readonly head: string;
  readonly of: (counts: Counts) => readonly Group[];
}

const kindsWith = (url: string): readonly Kind[] => [
  {
    by: 'reason',
    head: 'Reason',
    of: ({ errors }) => errors.map((one) => ({ ...one, name: one.error, filters: { error: one.error } })),
  },
  {
    by: 'label',
    head: 'Label',
    of: ({ labels }) => labels.map((one) => ({ ...one, name: one.label, filters: { label: one.label } })),
  },
  {
    by: 'URL',
    head: 'URL',
    of: ({ urls }) => urls.map((one) => ({ ...one, name: one.url, filters: { [url]: one.url } })),
  },
];

export const kindsOfRuns = kindsWith('workflowUrl');
export const kindsOfMessages: readonly Kind[] = [
  {
    by: 'host and status',
    head: 'Host',
    of: ({ groups }) =>
      groups.map(({ host, responseStatus, ...one }) => ({
        ...one,
        name: host,
        status: responseStatus,
        filters: { host, responseStatus: String(responseStatus) },
      })),
  },
  ...kindsWith('url'),
];

export const Status = ({ of }: { readonly of: number }) => (
  <State state="FAILED" name={of === 0 ? 'No answer' : String(of)} />
);

const mostShown = 6;

interface GroupsProps {
  readonly place: Place;
  readonly counts: Counts;
  readonly kinds: readonly Kind[];
  readonly total: string;
  readonly noun: string;
  /** Whether a grouping with a single group is shown, because of its times. */
  readonly hasSingle?: boolean;
}

/** Shows nothing if every grouping has a single group, by default. */
export function Groups({ place, counts, kinds, total, noun, hasSingle = false }: GroupsProps) {
  const [isOpen, turn] = useSwitch();
  const dividing = kinds.filter(({ of }) => of(counts).length > 1);
  const offered = kinds.filter(({ of }) => of(counts).length > 0);
  const kind = offered.find(({ by }) => by === place.query.get('by')) ?? dividing[0] ?? offered[0];
  if ((dividing.length === 0 && !hasSingle) || kind === undefined) return null;
  const groups = kind.of(counts);
  const linkTo = (filters: Group['filters']): string => {
    const query = new URLSearchParams(place.query);
    for (const [name, value] of Object.entries(filters)) query.set(name, value);
    return href(place.path, query);
  };
  return (
    <Card
      title={`${total} by ${kind.by}`}
      actions={
        <>
          {offered.length > 1 && (
            <FilterChoices
              filter="by"
              of={offered.map(({ by }) => [by, by] as const)}
              chosen={kind.by}
              labelOf={(by) => `Group by ${by}`}
            />
          )}
          {groups.length > mostShown && (
            <Button kind="quiet" onClick={turn}>
              {isOpen ? 'Show fewer' : `Show all ${groups.length}`}
            </Button>
          )}
        </>
      }
    >
      <Table
        caption={`${noun} by ${kind.by}, the most frequent first`}
        rows={groups.slice(0, isOpen ? groups.length : mostShown)}
        keyOf={({ name, status }) => `${status ?? ''} ${name}`}
        columns={[
          ...(groups.some(({ status }) => status !== undefined)
            ? [{ head: 'Status', cell: ({ status = 0 }: Group) => <Status of={status} /> }]
            : []),
          { head: kind.head, text: ({ name }) => name, to: ({ filters }) => linkTo(filters) },
          { head: noun, count: (group) => group.count },
          {
            head: counts.atLeast === true ? 'First of those counted' : 'First failed',
            isExtra: true,
            time: ({ firstFailedAt }) => firstFailedAt,
          },
          { head: 'Last failed', time: ({ lastFailedAt }) => lastFailedAt },
        ]}
      />
    </Card>
  );
}
