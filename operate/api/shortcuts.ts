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

export interface Shortcut {
  readonly about: string;
  /** By the word after the command. The first is the default. A command with the only action `` takes no word. */
  readonly actions: Readonly<Record<string, Action>>;
}

const oneOrMany =
  (one: string, many: string) =>
  (given: string | undefined): string =>
    given === undefined ? many : one;

const held = (verb: 'hold' | 'release') => ({
  host: { operation: `${verb}Host` },
  label: { operation: `${verb}Label` },
  group: { operation: `${verb}UrlGroup` },
  account: { operation: `${verb}Account` },
});

export const shortcuts = {
  publish: {
    about: 'send a message to a URL, an ARN or a URL group',
    actions: { '': { operation: 'publishMessage' } },
  },
  messages: {
    about: 'list the messages that wait, or others with state=',
    actions: {
      '': {
        operation: 'listMessages',
        rows: 'messages',
        columns: 'messageId state createdAt nextDeliveryTime labels url',
      },
    },
  },
  message: {
    about: 'show a message',
    actions: { '': { operation: 'getMessage', defaults: { state: 'ALL' } } },
  },
  logs: {
    about: 'list the history of messages, or follow it with --follow',
    actions: {
      '': {
        operation: 'listLogs',
        rows: 'logs',
        columns: 'time state messageId responseStatus labels url error',
      },
    },
  },
  dlq: {
    about: 'list, count, show, retry and delete dead letters',
    actions: {
      list: {
        operation: 'listDeadLetters',
        rows: 'messages',
        columns: 'dlqId failedAt responseStatus labels url responseBody',
      },
      count: { operation: 'countDeadLetters', rows: 'errors', columns: 'count lastFailedAt error' },
      show: { operation: 'getDeadLetter' },
      retry: { operation: oneOrMany('retryDeadLetter', 'retryDeadLetters') },
      delete: { operation: oneOrMany('deleteDeadLetter', 'deleteDeadLetters') },
    },
  },
  queues: {
    about: 'list the queues',
    actions: {
      '': { operation: 'listQueues', columns: 'name parallelism paused lag updatedAt' },
    },
  },
  schedules: {
    about: 'list, show, run, pause and resume schedules',
    actions: {
      list: {
        operation: 'listSchedules',
        columns: 'scheduleId cron isPaused nextScheduleTime lastScheduleTime destination',
      },
      show: { operation: 'getSchedule' },
      fires: { operation: 'listScheduleFires', rows: 'fires', columns: 'time messages states' },
      run: { operation: 'runSchedule' },
      pause: { operation: 'pauseSchedule' },
      resume: { operation: 'resumeSchedule' },
    },
  },
  runs: {
    about: 'list the runs of workflows',
    actions: {
      '': {
        operation: 'listRuns',
        rows: 'runs',
        columns: 'workflowRunId workflowState workflowRunCreatedAt dlqId labels workflowUrl',
      },
    },
  },
  run: {
    about: 'show the steps of a run',
    actions: {
      '': {
        operation: 'listRuns',
        takes: ['workflowRunId'],
        rows: 'runs steps steps',
        columns: 'stepName stepType state createdAt messageId out',
      },
    },
  },
  resume: {
    about: 'resume a failed run by its dead letter, a hanging one by its id, or many failed ones',
    actions: {
      '': {
        operation: (given) =>
          given === undefined ? 'resumeRuns' : given.startsWith('dlq_') ? 'resumeRun' : 'resumeHangingRun',
      },
    },
  },
  hold: {
    about: 'stop deliveries to a host, of a label, of a URL group or of the account; list the holds',
    actions: {
      list: { operation: 'listHolds', columns: 'kind name since until by waiting reason' },
      ...held('hold'),
    },
  },
  release: { about: 'release held deliveries', actions: held('release') },
  alarms: { about: 'show the alarms, and which are open', actions: { '': { operation: 'getAlarms' } } },
  tokens: {
    about: 'list the account’s named tokens, make and revoke them',
    actions: {
      list: { operation: 'listOwnTokens', columns: 'id name scope expires_at last_used' },
      create: { operation: 'createOwnToken' },
      revoke: { operation: 'revokeOwnToken' },
    },
  },
} as const satisfies Readonly<Record<string, Shortcut>>;

type ShortcutName = keyof typeof shortcuts;

export const isShortcut = (name: string): name is ShortcutName => Object.hasOwn(shortcuts, name);
