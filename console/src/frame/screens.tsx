/** All screens, in the order of the navigation. The first is shown when the address names none. */
import type { FunctionComponent } from 'preact';
import type { Attention } from '../api/attention.ts';
import type { Place } from '../place.ts';
import { Accounts } from '../screens/accounts/accounts.tsx';
import { DeadLetters } from '../screens/deadLetters/deadLetters.tsx';
import { Keys } from '../screens/keys/keys.tsx';
import { FlowControl } from '../screens/lanes/flowControl.tsx';
import { Queues } from '../screens/lanes/queues.tsx';
import { Messages } from '../screens/messages/messages.tsx';
import { Overview } from '../screens/overview/overview.tsx';
import { Publish } from '../screens/publish/publish.tsx';
import { Runs } from '../screens/runs/runs.tsx';
import { Schedules } from '../screens/schedules/schedules.tsx';
import { UrlGroups } from '../screens/urlGroups/urlGroups.tsx';
import { apis, type Api } from '../session.ts';

export interface Screen {
  /** The first segment of its address. */
  readonly path: string;
  readonly name: string;
  readonly api: Api;
  /** Gets the whole place: the rest of the path and the query are the screen's own. */
  readonly Screen: FunctionComponent<{ readonly place: Place }>;
  /** Whether the screen is only for tokens that may change something. */
  readonly changes?: boolean;
  /** The letter that leads there after `g`. */
  readonly key?: string;
  /** How many things on the screen need attention: the navigation shows it. */
  readonly badge?: (attention: Attention) => number;
}

export const screens: readonly Screen[] = [
  { path: 'overview', name: 'Overview', api: 'messaging', Screen: Overview, key: 'o' },
  { path: 'messages', name: 'Messages', api: 'messaging', Screen: Messages, key: 'm' },
  {
    path: 'dead-letters',
    name: 'Dead letters',
    api: 'messaging',
    Screen: DeadLetters,
    key: 'd',
    badge: ({ deadLetters }) => deadLetters,
  },
  { path: 'publish', name: 'Publish', api: 'messaging', Screen: Publish, changes: true, key: 'p' },
  {
    path: 'schedules',
    name: 'Schedules',
    api: 'messaging',
    Screen: Schedules,
    key: 's',
    badge: ({ failingSchedules }) => failingSchedules.length,
  },
  { path: 'url-groups', name: 'URL groups', api: 'messaging', Screen: UrlGroups, key: 'u' },
  {
    path: 'queues',
    name: 'Queues',
    api: 'messaging',
    Screen: Queues,
    key: 'q',
    badge: ({ pausedQueues }) => pausedQueues.length,
  },
  {
    path: 'flow-control',
    name: 'Flow control',
    api: 'messaging',
    Screen: FlowControl,
    key: 'f',
    badge: ({ pausedKeys, hostsDown }) => pausedKeys.length + hostsDown.length,
  },
  {
    path: 'runs',
    name: 'Workflow runs',
    api: 'messaging',
    Screen: Runs,
    key: 'w',
    badge: ({ failedRuns }) => failedRuns,
  },
  { path: 'keys', name: 'Keys', api: 'messaging', Screen: Keys, key: 'k' },
  { path: 'accounts', name: 'Accounts', api: 'management', Screen: Accounts, key: 'a' },
];

/** The screens that this page serves and a token may use. @param access undefined until the rights are known */
export const screensFor = (access: 'read' | 'write' | undefined): readonly Screen[] =>
  screens.filter(({ api, changes }) => apis.includes(api) && !(changes === true && access === 'read'));
