/** All screens, in the order of the navigation. The first is the default. */
import type { FunctionComponent } from 'preact';
import type { AttentionPart } from '../api/attention.ts';
import type { Place } from '../place.ts';
import { DeadLetters } from '../screens/deadLetters/deadLetters.tsx';
import { Messages } from '../screens/messages/messages.tsx';
import { Overview } from '../screens/overview/overview.tsx';
import { apis, type Api } from '../session.ts';
import { lazy } from './lazy.tsx';

export interface Screen {
  readonly path: string;
  readonly name: string;
  readonly api: Api;
  /** Gets the whole place. The screen reads the rest of the path and the query. */
  readonly Screen: FunctionComponent<{ readonly place: Place }>;
  /** Whether the screen is hidden from read-only tokens. */
  readonly changes?: boolean;
  /** The key that opens the screen after `g`. */
  readonly key?: string;
  /** The parts whose total the navigation shows as things that need attention. */
  readonly needs?: readonly AttentionPart[];
}

const later = () => import('./later.ts');
const publish = lazy('Publish', async () => (await later()).Publish);
const schedules = lazy('Schedules', async () => (await later()).Schedules);
const urlGroups = lazy('URL groups', async () => (await later()).UrlGroups);
const queues = lazy('Queues', async () => (await later()).Queues);
const flowControl = lazy('Flow control', async () => (await later()).FlowControl);
const runs = lazy('Workflow runs', async () => (await later()).Runs);
const alarms = lazy('Alarms', async () => (await later()).Alarms);
const keys = lazy('Keys', async () => (await later()).Keys);
const audit = lazy('Audit', async () => (await later()).Audit);
const accounts = lazy('Accounts', async () => (await later()).Accounts);

export const screens: readonly Screen[] = [
  { path: 'overview', name: 'Overview', api: 'messaging', Screen: Overview, key: 'o' },
  { path: 'messages', name: 'Messages', api: 'messaging', Screen: Messages, key: 'm' },
  {
    path: 'dead-letters',
    name: 'Dead letters',
    api: 'messaging',
    Screen: DeadLetters,
    key: 'd',
    needs: ['deadLetters'],
  },
  { path: 'publish', name: 'Publish', api: 'messaging', Screen: publish, changes: true, key: 'p' },
  {
    path: 'schedules',
    name: 'Schedules',
    api: 'messaging',
    Screen: schedules,
    key: 's',
    needs: ['failingSchedules'],
  },
  { path: 'url-groups', name: 'URL groups', api: 'messaging', Screen: urlGroups, key: 'u' },
  {
    path: 'queues',
    name: 'Queues',
    api: 'messaging',
    Screen: queues,
    key: 'q',
    needs: ['pausedQueues'],
  },
  {
    path: 'flow-control',
    name: 'Flow control',
    api: 'messaging',
    Screen: flowControl,
    key: 'f',
    needs: ['pausedKeys', 'hostsDown'],
  },
  {
    path: 'runs',
    name: 'Workflow runs',
    api: 'messaging',
    Screen: runs,
    key: 'w',
    needs: ['failedRuns', 'hangingRuns'],
  },
  { path: 'alarms', name: 'Alarms', api: 'messaging', Screen: alarms, key: 'l' },
  { path: 'keys', name: 'Keys', api: 'messaging', Screen: keys, key: 'k' },
  { path: 'audit', name: 'Audit', api: 'messaging', Screen: audit, key: 't' },
  { path: 'accounts', name: 'Accounts', api: 'management', Screen: accounts, key: 'a' },
];

/** The screens that this page serves and the token may use. @param access undefined until the rights are known */
export const screensFor = (access: 'read' | 'write' | undefined): readonly Screen[] =>
  screens.filter(({ api, changes }) => apis.includes(api) && !(changes === true && access === 'read'));
