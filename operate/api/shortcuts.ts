/** Short commands for frequent operations, and the columns of their tables. `svc-queue api` reaches every other operation. */

export interface Action {
  /** The operation's id, which may depend on the first argument. */
  readonly operation: string | ((given: string | undefined) => string);
  /** The names of the arguments, if they are not the variables of the path. */
  readonly takes?: readonly string[];
  readonly defaults?: Readonly<Record<string, string>>;
  /** The fields with the rows, one in the other, and the columns of the table, as words. Without columns, each field is a line. */
  readonly rows?: string;
  readonly columns?: string;
}

interface Shortcut {
  readonly about: string;
  /** By the word after the command. The first is the default. A command with the only action `` takes no word. */
  readonly actions: Readonly<Record<string, Action>>;
}

type Actions = Shortcut['actions'];

const oneOrMany =
  (one: string, many: string) =>
  (given: string | undefined): string =>
    given === undefined ? many : one;

/** An operation whose answer is a table. */
const list = (operation: string, rows: string, columns: string): Action => ({ operation, rows, columns });

const only = (action: Action): Actions => ({ '': action });

const each = (verb: 'hold' | 'release'): Actions => ({
  host: { operation: `${verb}Host` },
  label: { operation: `${verb}Label` },
  group: { operation: `${verb}UrlGroup` },
  account: { operation: `${verb}Account` },
});

const resumption = (given: string | undefined): string =>
  given === undefined ? 'resumeRuns' : given.startsWith('dlq_') ? 'resumeRun' : 'resumeHangingRun';

export const shortcuts: Readonly<Record<string, Shortcut>> = {
  publish: {
    about: 'send a message to a URL, an ARN or a URL group',
    actions: only({ operation: 'publishMessage' }),
  },
  messages: {
    about: 'list the messages that wait, or others with state=',
    actions: only(list('listMessages', 'messages', 'messageId state createdAt nextDeliveryTime labels url')),
  },
  message: {
    about: 'show a message',
    actions: only({ operation: 'getMessage', defaults: { state: 'ALL' } }),
  },
  logs: {
    about: 'list the history of messages, or follow it with --follow',
    actions: only(list('listLogs', 'logs', 'time state messageId responseStatus labels url error')),
  },
  dlq: {
    about: 'list, count, show, retry and delete dead letters',
    actions: {
      list: list('listDeadLetters', 'messages', 'dlqId failedAt responseStatus labels url responseBody'),
      count: list('countDeadLetters', 'errors', 'count lastFailedAt error'),
      show: { operation: 'getDeadLetter' },
      retry: { operation: oneOrMany('retryDeadLetter', 'retryDeadLetters') },
      delete: { operation: oneOrMany('deleteDeadLetter', 'deleteDeadLetters') },
    },
  },
  queues: {
    about: 'list the queues',
    actions: only(list('listQueues', '', 'name parallelism paused lag updatedAt')),
  },
  schedules: {
    about: 'list, show, run, pause and resume schedules',
    actions: {
      list: list(
        'listSchedules',
        '',
        'scheduleId cron isPaused nextScheduleTime lastScheduleTime destination',
      ),
      show: { operation: 'getSchedule' },
      fires: list('listScheduleFires', 'fires', 'time messages states'),
      run: { operation: 'runSchedule' },
      pause: { operation: 'pauseSchedule' },
      resume: { operation: 'resumeSchedule' },
    },
  },
  runs: {
    about: 'list the runs of workflows',
    actions: only(
      list('listRuns', 'runs', 'workflowRunId workflowState workflowRunCreatedAt dlqId labels workflowUrl'),
    ),
  },
  run: {
    about: 'show the steps of a run',
    actions: only({
      ...list('listRuns', 'runs steps steps', 'stepName stepType state createdAt messageId out'),
      takes: ['workflowRunId'],
    }),
  },
  resume: {
    about: 'resume a failed run by its dead letter, a hanging one by its id, or many failed ones',
    actions: only({ operation: resumption }),
  },
  hold: {
    about: 'stop deliveries to a host, of a label, of a URL group or of the account; list the holds',
    actions: { list: list('listHolds', '', 'kind name since until by waiting reason'), ...each('hold') },
  },
  release: { about: 'release held deliveries', actions: each('release') },
  alarms: { about: 'show the alarms, and which are open', actions: only({ operation: 'getAlarms' }) },
  tokens: {
    about: 'list the account’s named tokens, make and revoke them',
    actions: {
      list: list('listOwnTokens', '', 'id name scope expires_at last_used'),
      create: { operation: 'createOwnToken' },
      revoke: { operation: 'revokeOwnToken' },
    },
  },
};

export const shortcutOf = (name: string): Shortcut | undefined =>
  Object.hasOwn(shortcuts, name) ? shortcuts[name] : undefined;
