import { describe, expect, it } from 'vitest';
import { Ledger } from '../../chaos/ledger.ts';
import type { Answer } from '../../chaos/receivers.ts';
import { broken, type Evidence, type LaneInTheEnd, type ShownMessage } from '../../chaos/rules.ts';

const urlOf = (path: string): string => `http://127.0.0.1:9${path}`;
const first = 'msg_1';

interface Told {
  readonly state?: string;
  readonly answers?: readonly Answer[];
  readonly shown?: readonly ShownMessage[];
  readonly dead?: readonly string[];
  readonly callbacks?: Evidence['callbacks'];
  readonly deadCallbacks?: Evidence['deadCallbacks'];
  readonly runStates?: readonly (readonly [string, string | undefined])[];
  readonly starts?: number;
  readonly lanes?: readonly LaneInTheEnd[];
  readonly hasCallback?: boolean;
  readonly hasFailureCallback?: boolean;
  readonly isAccepted?: boolean;
  readonly note?: (ledger: Ledger) => void;
}

/** Returns the findings for a run with one message, which is delivered by default. */
function found({
  state = 'DELIVERED',
  answers = ['ok'],
  shown = [{ messageId: first, url: urlOf('/m/7'), state }],
  dead = [],
  callbacks = [],
  deadCallbacks = [],
  runStates = [],
  starts = 1,
  lanes = [],
  hasCallback = false,
  hasFailureCallback = false,
  isAccepted = true,
  note = () => undefined,
}: Told): readonly string[] {
  const ledger = new Ledger();
  if (isAccepted) ledger.accept({ messageId: first, number: 7, hasCallback, hasFailureCallback });
  note(ledger);
  return broken({
    ...{ ledger, shown, callbacks, deadCallbacks, starts, lanes },
    answers: new Map([[first, answers]]),
    deadIds: new Set(dead),
    runStates: new Map(runStates),
  });
}

it('finds nothing if all rules hold', () => {
  expect(found({})).toEqual([]);
});

it('finds an answer that a valid request must not get', () => {
  const note = (ledger: Ledger): void => void ledger.unexpected.push('publish: 400 {}');
  expect(found({ note })).toEqual(['An answer that a sound request never gets: publish: 400 {}']);
});

describe('a message that waits for ever', () => {
  const left = (path: string, told: Told = {}, state = 'CREATED'): readonly string[] =>
    found({ isAccepted: false, ...told, shown: [{ messageId: 'msg_2', url: urlOf(path), state }] });
  const mayLeave = (ledger: Ledger): void => void ledger.mayLeaveMessages.add('schedule-1');

  it('is found if a client was told that it is accepted', () => {
    expect(found({ state: 'CREATED' })).toEqual([
      `Message ${first} to ${urlOf('/m/7')} is CREATED for ever.`,
    ]);
  });

  it.each(['/m/8', '/callback', '/failure'])(
    'is not found if it was for %s, stored, not confirmed to a client, and never sent',
    (path) => {
      expect(left(path)).toEqual([]);
      expect(left(path, {}, 'ACTIVE')).toHaveLength(1);
      expect(left(path, {}, 'RETRY')).toHaveLength(1);
    },
  );

  it.each(['/flow', '/ask', '/last'])('is found if it is for %s, which no client publishes', (path) => {
    expect(left(path)).toEqual([`Message msg_2 to ${urlOf(path)} is CREATED for ever.`]);
  });

  it('is not found for a run’s endpoint if a run was cancelled, because it may answer a call of that run', () => {
    const cancelRun = (ledger: Ledger): void => {
      ledger.runs.add('wfr_1');
      ledger.cancelAsked.add('wfr_1');
    };
    const cancelled: Told = { note: cancelRun, runStates: [['wfr_1', 'RUN_CANCELED']] };
    expect(left('/flow', cancelled)).toEqual([]);
    expect(left('/flow', cancelled, 'RETRY')).toHaveLength(1);
    expect(left('/ask', cancelled)).toHaveLength(1);
  });

  it('is found for a schedule, unless the schedule was deleted during a fire or a manual run was not answered', () => {
    expect(left('/s/schedule-1')).toHaveLength(1);
    expect(left('/s/schedule-1', { note: mayLeave })).toEqual([]);
    expect(left('/s/schedule-2', { note: mayLeave })).toHaveLength(1);
    expect(left('/s/schedule-1', { note: mayLeave }, 'RETRY')).toHaveLength(1);
  });
});

describe('an accepted message', () => {
  it('is somewhere', () => {
    expect(found({ shown: [] })).toEqual([
      `Message ${first} (number 7, answered ok) was accepted, and is nowhere.`,
    ]);
  });

  it('counts as delivered only if a destination may have accepted it', () => {
    for (const answers of [['error'], ['redirect', 'hang'], []] as const) {
      expect(found({ answers })).toHaveLength(1);
    }
    for (const answers of [['slow'], ['error', 'ok'], ['tooShort'], ['endless']] as const) {
      expect(found({ answers })).toEqual([]);
    }
  });

  it('that failed is in the dead-letter queue', () => {
    const told = { state: 'FAILED', answers: ['error'] } as const;
    expect(found({ ...told, dead: [first] })).toEqual([]);
    expect(found(told)).toEqual([
      `Message ${first} (number 7, answered error) failed, and is not in the dead letter queue.`,
    ]);
  });

  it('that failed and left the dead-letter queue is sent again', () => {
    const note = (ledger: Ledger): void => void ledger.retried.add(first);
    const failed = { messageId: first, url: urlOf('/m/7'), state: 'FAILED' };
    const again = { messageId: 'msg_2', url: urlOf('/m/7'), state: 'DELIVERED' };
    const elsewhere = { ...again, url: urlOf('/m/8') };
    const earlier = { ...again, messageId: 'msg_0' };
    expect(found({ note, answers: ['error'], shown: [failed, again] })).toEqual([]);
    for (const shown of [[failed], [failed, elsewhere], [failed, earlier]]) {
      expect(found({ note, answers: ['error'], shown })).toEqual([
        `Message ${first} (number 7, answered error) was taken out of the dead letter queue, and was not sent again.`,
      ]);
    }
  });

  it('is cancelled only if a client asked for it', () => {
    expect(found({ state: 'CANCELED' })).toHaveLength(1);
    expect(found({ state: 'CANCELED', note: (ledger) => ledger.cancelAsked.add(first) })).toEqual([]);
  });

  it('that was cancelled does not fail later, but may have been delivered just before', () => {
    const note = (ledger: Ledger): void => {
      ledger.cancelAsked.add(first);
      ledger.cancelled.add(first);
    };
    expect(found({ note })).toEqual([]);
    expect(found({ note, state: 'FAILED', answers: ['error'], dead: [first] })).toHaveLength(1);
  });
});

describe('a callback', () => {
  const callback = (status: number, isFailure = false) => [{ sourceMessageId: first, status, isFailure }];
  const hasCallback = true;
  const hasFailureCallback = true;
  const failed = { state: 'FAILED', answers: ['error'], dead: [first] } as const;

  it('reports a delivery by its success instead of an earlier failure', () => {
    expect(found({ hasCallback, callbacks: callback(200) })).toEqual([]);
    for (const callbacks of [[], callback(500), callback(200, true)]) {
      expect(found({ hasCallback, callbacks })).toEqual([
        `Message ${first} (number 7) was delivered, and its callback was not told.`,
      ]);
    }
  });

  it('is not missing if it is a dead letter, because each worker that was to send it died', () => {
    expect(found({ hasCallback, deadCallbacks: callback(200) })).toEqual([]);
    for (const deadCallbacks of [callback(500), callback(200, true)]) {
      expect(found({ hasCallback, deadCallbacks })).toHaveLength(1);
    }
    expect(found({ ...failed, hasCallback, deadCallbacks: callback(500) })).toEqual([]);
    expect(found({ ...failed, hasFailureCallback, deadCallbacks: callback(500, true) })).toEqual([]);
    expect(found({ ...failed, deadCallbacks: callback(200) })).toEqual([
      `The callback of Message ${first} (number 7) tells a success that there was not.`,
    ]);
  });

  it('reports a failure that an attempt had', () => {
    expect(found({ ...failed, hasCallback, callbacks: callback(500) })).toEqual([]);
    expect(found({ ...failed, hasCallback })).toHaveLength(1);
    expect(found({ ...failed, answers: [], hasCallback })).toEqual([]);
  });

  it('for failures reports one', () => {
    expect(found({ ...failed, hasFailureCallback, callbacks: callback(500, true) })).toEqual([]);
    expect(found({ ...failed, hasFailureCallback, callbacks: callback(500) })).toHaveLength(1);
    expect(found({ hasFailureCallback })).toEqual([]);
  });

  it('does not report a success that did not happen', () => {
    expect(found({ ...failed, hasCallback, callbacks: callback(200) })).toEqual([
      `The callback of Message ${first} (number 7) tells a success that there was not.`,
    ]);
  });
});

describe('a schedule', () => {
  const minuteMs = 60_000;
  const lived =
    (minutes: number, createdIn = 1) =>
    (ledger: Ledger) =>
      ledger.schedules.set('schedule-1', {
        ...{ id: 'schedule-1', createdAt: 0, createdIn },
        deletedAt: minutes * minuteMs,
      });
  const made = (count: number): readonly ShownMessage[] =>
    Array.from({ length: count }, (_, at) => ({
      ...{ messageId: `msg_s${at}`, url: urlOf('/s/schedule-1'), state: 'DELIVERED' },
    }));

  it('fires each minute', () => {
    expect(found({ isAccepted: false, note: lived(5), shown: made(4) })).toEqual([]);
    expect(found({ isAccepted: false, note: lived(5), shown: made(3) })).toEqual([
      'The schedule schedule-1 made 3 messages where 4 are the least.',
    ]);
  });

  it('may miss one fire for each time that the stage was down', () => {
    expect(found({ isAccepted: false, note: lived(5), shown: made(3), starts: 2 })).toEqual([]);
    expect(found({ isAccepted: false, note: lived(5, 2), shown: made(3), starts: 2 })).toHaveLength(1);
  });
});

describe('a run', () => {
  const note = (ledger: Ledger): void => void ledger.runs.add('wfr_1');

  it('that was accepted ends', () => {
    for (const state of ['RUN_SUCCESS', 'RUN_FAILED']) {
      expect(found({ note, runStates: [['wfr_1', state]] })).toEqual([]);
    }
    expect(found({ note, runStates: [['wfr_1', 'RUN_STARTED']] })).toEqual([
      'The run wfr_1 was accepted, and is RUN_STARTED.',
    ]);
    expect(found({ note, runStates: [['wfr_1', undefined]] })).toEqual([
      'The run wfr_1 was accepted, and is nowhere.',
    ]);
  });

  it('is cancelled only if a client asked for it', () => {
    const runStates = [['wfr_1', 'RUN_CANCELED']] as const;
    expect(found({ note, runStates })).toHaveLength(1);
    const asked = (ledger: Ledger): void => {
      note(ledger);
      ledger.cancelAsked.add('wfr_1');
    };
    expect(found({ note: asked, runStates })).toEqual([]);
  });
});

it('a lane holds no attempt at the end, and lets a last message pass', () => {
  const lane = { name: 'The queue q', waiting: 0, inFlight: 0, isOpen: true };
  expect(found({ lanes: [lane] })).toEqual([]);
  expect(found({ lanes: [{ ...lane, waiting: 1 }] })).toEqual([
    'The queue q has 1 that wait and 0 in flight.',
  ]);
  expect(found({ lanes: [{ ...lane, inFlight: 2 }] })).toEqual([
    'The queue q has 0 that wait and 2 in flight.',
  ]);
  expect(found({ lanes: [{ ...lane, isOpen: false }] })).toEqual(['The queue q lets nothing through.']);
});
