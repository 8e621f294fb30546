/** Holds, which stop deliveries, and the buttons that begin and end them. */
import { holds, type HoldAnswer } from '../../../../lambdas/wire/holdAnswers.ts';
import { heldKinds, type HeldKind } from '../../../../lambdas/wire/states.ts';
import { useMayWrite } from '../../access.ts';
import { path } from '../../api/client.ts';
import { useAsked } from '../../api/useAsked.ts';
import { href } from '../../place.ts';
import { Act, ActionForm, change, sends } from '../../ui/action.tsx';
import { Card, countOf, State, Visible } from '../../ui/basics.tsx';
import { LoadedCard } from '../../ui/resourcePage.tsx';
import { exactTime, Time } from '../../ui/time.tsx';
import { hrefOfHost } from '../links.tsx';

/** In milliseconds. A hold may expire. */
const everyMs = 10_000;
export const useHolds = () => useAsked(holds, { path: 'v2/holds' }, everyMs);

/** The name, the path in the API, and the page of each kind. */
const kinds: Readonly<
  Record<HeldKind, readonly [string, (name: string) => string, (name: string) => string]>
> = {
  account: ['The whole account', () => 'v2', () => href(['messages'], { state: 'CREATED,RETRY' })],
  host: ['The host', (host) => path`v2/hosts/${host}`, hrefOfHost],
  label: ['The label', (label) => path`v2/labels/${label}`, (label) => href(['messages'], { label })],
  urlGroup: ['The URL group', (name) => path`v2/topics/${name}`, (name) => href(['url-groups', name])],
};

type Held = Pick<HoldAnswer, 'kind' | 'name'> & Partial<HoldAnswer>;

interface HoldProps {
  /** Undefined if the user chooses. */
  readonly of?: Held;
  readonly text: string;
  readonly then: () => void;
}

export const HoldDeliveries = ({ of, text, then }: HoldProps) => (
  <ActionForm
    name={text}
    title={of === undefined ? text : `${text}: “${of.name}”`}
    yes="Hold them"
    effect="Messages are still accepted. Their deliveries wait, and lose no retry. Attempts in flight end normally."
    then={then}
    fields={{
      kind: {
        label: 'Kind',
        value: of?.kind ?? 'account',
        options: heldKinds.toReversed().map((kind) => [kind, kinds[kind][0]] as const),
        isShown: () => of === undefined,
      },
      which: {
        label: 'Which',
        value: of?.name,
        about: /^The (host|label|name of the URL group) is|no URL group/,
        required: true,
        isShown: ({ kind }) => of === undefined && kind !== 'account',
      },
      reason: { label: 'Reason', value: of?.reason, hint: 'For colleagues and the audit trail.' },
      duration: {
        label: 'Ends after',
        placeholder: '2h',
        hint: '30m, 2h, 1d12h. Leave empty to hold them until somebody releases them.',
      },
    }}
    work={async ({ kind, which, reason, duration }) => {
      const [, pathOf] = kinds[heldKinds.find((known) => known === kind) ?? 'account'];
      const body = { reason: reason === '' ? null : reason, duration: duration === '' ? null : duration };
      await change({ path: `${pathOf(which)}/hold`, body });
      return 'The deliveries are held.';
    }}
  />
);

const About = ({ of: { by, since, reason, until, waiting } }: { readonly of: HoldAnswer }) => (
  <>
    by {by === 'token' ? 'the account’s token' : <code>{by}</code>} since <Time at={since} />
    <Visible text={reason === undefined ? '' : `: ${reason}`} />.{' '}
    {countOf(waiting, 'delivery waits', 'deliveries wait')}
    {until === undefined ? '.' : ` until ${exactTime(until)}.`}
  </>
);

const LetGo = ({ of: { kind, name = '' }, then }: { readonly of: Held; readonly then: () => void }) => (
  <Act
    name="Let them go"
    label={`Let them go: ${kinds[kind][0]} ${name}`}
    work={sends({ path: `${kinds[kind][1](name)}/release` }, 'The deliveries start again.')}
    then={then}
  />
);

/** Whether deliveries to a host or of a URL group are held. */
export function Deliveries({ of, text }: Required<Pick<HoldProps, 'of' | 'text'>>) {
  const asked = useHolds();
  const { answer = [], again } = asked;
  const hold = answer.find(({ kind, name }) => kind === of.kind && name === of.name);
  const actions = useMayWrite() && (
    <>
      <HoldDeliveries key={hold?.since} of={hold ?? of} text={hold ? 'Change the hold' : text} then={again} />
      {hold && <LetGo of={hold} then={again} />}
    </>
  );
  const state = hold ? (
    <p class="wrapped">
      <State state="HELD" /> <About of={hold} />
    </p>
  ) : (
    <p class="hint">They are not held.</p>
  );
  return (
    <LoadedCard title="Deliveries" of={asked} actions={actions}>
      {() => state}
    </LoadedCard>
  );
}

/** All holds. */
export function HeldNow({ of, then }: { readonly of: readonly HoldAnswer[]; readonly then: () => void }) {
  const mayWrite = useMayWrite();
  if (of.length === 0) return null;
  return (
    <Card class="verdict warn" title="Deliveries are held">
      <ul>
        {of.map((hold) => (
          <li key={`${hold.kind} ${hold.name}`}>
            <a href={kinds[hold.kind][2](hold.name ?? '')}>
              <Visible text={[kinds[hold.kind][0], hold.name].join(' ').trim()} />
            </a>
            <span class="wrapped">
              held <About of={hold} />
            </span>
            {mayWrite && <LetGo of={hold} then={then} />}
          </li>
        ))}
      </ul>
    </Card>
  );
}
