/**
 * Decides which notices a check sends. The states of a condition, in order:
 *
 * 1. open without a notice: it was found in quiet hours. If it is over before they end, it is forgotten.
 * 2. open with a notice.
 * 3. over: a notice is sent, and the condition is forgotten. If it is over in quiet hours, it stays open
 * until they end.
 */
import { hourMs, minuteMs } from '../../shared/clock.ts';
import { alarmKinds, kindTable, type AlarmKind } from '../../wire/alarms.ts';
import { others, type Condition, type Found, type Notice } from '../alarm.ts';

/** How many conditions of one kind are reported one by one. */
const mostOfKind = 20;

/** If checks do not finish, a condition counts as over when it was not found for this long. */
const missedMs = hourMs;

export interface Look {
  readonly found: readonly Found[];
  readonly watched: ReadonlySet<AlarmKind>;
  /** The kinds of which not all conditions may have been found. */
  readonly cut: ReadonlySet<AlarmKind>;
  readonly time: number;
  readonly isQuiet: boolean;
}

const keyOf = ({ kind, subject }: Pick<Found, 'kind' | 'subject'>): string => `${kind}/${subject}`;

/** A duration in words, rounded to a minute; to an hour from two days on. */
export function durationText(ms: number): string {
  const minutes = Math.max(1, Math.round(ms / minuteMs));
  const perHour = hourMs / minuteMs;
  if (minutes < 2 * perHour) return `${minutes} min`;
  const hours = Math.floor(minutes / perHour);
  return minutes < 48 * perHour ? `${hours} h ${minutes % perHour} min` : `${hours} h`;
}

/** Replaces all conditions of a kind after the first twenty with one. Open ones come first. */
function withOthers(found: readonly Found[], isOpen: (one: Found) => boolean): readonly Found[] {
  return alarmKinds.flatMap((kind) => {
    const all = found.filter((one) => one.kind === kind);
    const ordered = [...all.filter(isOpen), ...all.filter((one) => !isOpen(one))];
    const more = ordered.length - mostOfKind;
    if (more <= 0) return all;
    const rest = {
      kind,
      subject: others,
      title: kindTable[kind].more,
      detail: `${more} or more besides the ${mostOfKind} that were reported separately.`,
    };
    return [...ordered.slice(0, mostOfKind), rest];
  });
}

/**
 * Finds the open conditions after a check, and the notices to send.
 *
 * @param open the conditions that were open before it
 */
export function afterLook(
  open: readonly Condition[],
  { found: all, watched, cut, time, isQuiet }: Look,
): { readonly open: readonly Condition[]; readonly notices: readonly Notice[] } {
  const before = new Map(open.map((one) => [keyOf(one), one]));
  const found = new Map(withOthers(all, (one) => before.has(keyOf(one))).map((one) => [keyOf(one), one]));
  const notices: Notice[] = [];
  const tell = (one: Condition, state: Notice['state'], detail = one.detail): void => {
    const { kind, subject, title, openedAt } = one;
    notices.push({ state, kind, subject, title, detail, openedAt, at: time });
  };

  const kept = open.flatMap((one): Condition[] => {
    const now = found.get(keyOf(one));
    if (now !== undefined) {
      if (one.isTold) return [{ ...one, missedSince: undefined }];
      const current = { ...one, ...now, isTold: !isQuiet, missedSince: undefined };
      if (current.isTold) tell(current, 'open');
      return [current];
    }
    const missedSince = one.missedSince ?? time;
    if (cut.has(one.kind) && time - missedSince < missedMs) return [{ ...one, missedSince }];
    if (!one.isTold) return [];
    if (isQuiet) return [one];
    const why = watched.has(one.kind)
      ? `It lasted ${durationText(time - one.openedAt)}.`
      : 'It is no longer watched.';
    tell(one, 'over', why);
    return [];
  });
  const opened = [...found.values()]
    .filter((one) => !before.has(keyOf(one)))
    .map((one): Condition => ({ ...one, openedAt: time, isTold: !isQuiet }));
  for (const one of opened) if (one.isTold) tell(one, 'open');
  return { open: [...kept, ...opened], notices };
}
