/** Runs a migration: reads both sides, prints the differences, and applies them if requested. */
import { openApi } from './api.ts';
import { compareFlowControl } from './flowControl.ts';
import { Refusal } from './migrationError.ts';
import type { Options } from './options.ts';
import { compareQueues } from './queues.ts';
import { compareSchedules } from './schedules.ts';
import type { Act, Kind, Sides, Step } from './step.ts';
import { compareForSwitch } from './switch.ts';
import { compareUrlGroups } from './urlGroups.ts';

/** The outcomes of a step, as named in the report. */
const outcomes = [
  'created',
  'replaced',
  'switched',
  'same',
  'to create',
  'to switch',
  'differs',
  'skipped',
  'failed',
] as const;
type StepOutcome = (typeof outcomes)[number];

/** The outcomes that leave something to do, except failures. */
const leftToDo: ReadonlySet<StepOutcome> = new Set(['to create', 'to switch', 'differs', 'skipped']);

const headings: Readonly<Record<Kind, string>> = {
  queue: 'Queues',
  'URL group': 'URL groups',
  'flow-control key': 'Flow-control keys',
  schedule: 'Schedules',
};

/** 0 if nothing is left to do, 1 if something failed, 3 if something is left to do. */
type ExitCode = 0 | 1 | 3;

/**
 * @param print called with one line at a time
 * @throws MigrationError if a side cannot be read, or stops answering; printed steps are done
 */
export async function migrate(options: Options, print: (line: string) => void): Promise<ExitCode> {
  const sides = { source: openApi('The source', options.from), target: openApi('The target', options.to) };
  const steps = await compare(sides, options);
  print(`From ${options.from.url} to ${options.to.url}`);
  if (!options.apply) print('A dry run: nothing is changed. Use --apply to do it.');

  const counts = new Map<StepOutcome, number>();
  let isLeft = false;
  let kind: Kind | undefined;
  const width = Math.min(40, Math.max(...steps.map(({ name }) => name.length)));
  for (const step of steps) {
    if (step.kind !== kind) print(`\n${headings[step.kind]}`);
    kind = step.kind;
    const { outcome, note, isWhole = true } = await take(step, options);
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
    isLeft ||= leftToDo.has(outcome) || !isWhole;
    print(`  ${outcome.padEnd(9)}  ${plain(step.name).padEnd(width)}  ${plain(note ?? '')}`.trimEnd());
  }
  const summary = outcomes.flatMap((outcome) => {
    const count = counts.get(outcome);
    return count === undefined ? [] : [`${count} ${outcome}`];
  });
  print(`\n${steps.length === 0 ? 'There is nothing to do' : summary.join(', ')}.`);
  if ((counts.get('failed') ?? 0) > 0) return 1;
  return isLeft ? 3 : 0;
}

async function compare(sides: Sides, { task, paused }: Options): Promise<readonly Step[]> {
  if (task === 'switch') return compareForSwitch(sides);
  // Schedules come after what they refer to.
  return [
    ...(await compareQueues(sides)),
    ...(await compareUrlGroups(sides)),
    ...(await compareFlowControl(sides)),
    ...(await compareSchedules(sides, paused)),
  ];
}

interface Taken {
  readonly outcome: StepOutcome;
  readonly note?: string | undefined;
  /** False if the target accepted only a part. */
  readonly isWhole?: boolean;
}

async function take(step: Step, { apply, overwrite }: Options): Promise<Taken> {
  switch (step.state) {
    case 'same':
    case 'skipped':
      return { outcome: step.state, note: step.note };
    case 'differs':
      if (apply && overwrite) return done('replaced', step);
      return { outcome: 'differs', note: `in ${step.note}${overwrite ? '' : '; --overwrite replaces it'}` };
    case 'create':
      return apply ? done('created', step) : { outcome: 'to create', note: step.note };
    case 'switch':
      return apply ? done('switched', step) : { outcome: 'to switch', note: step.note };
  }
}

/** @throws MigrationError if the other steps would fail too */
async function done(
  outcome: StepOutcome,
  { note, act }: { readonly note: string; readonly act: Act },
): Promise<Taken> {
  try {
    const but = await act();
    return { outcome, note: but === undefined ? note : `${note}, ${but}`, isWhole: but === undefined };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { outcome: 'failed', note: error.message };
  }
}

/** Names come from elsewhere, and a terminal must not obey their control characters. */
const plain = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}]/gu, '?');
