/** Screens that are rarely opened, loaded together when one of them is. */
export { Accounts } from '../screens/accounts/accounts.tsx';
export { Alarms } from '../screens/alarms/alarms.tsx';
export { Audit } from '../screens/audit/audit.tsx';
export { DeadLetters } from '../screens/deadLetters/deadLetters.tsx';
export { Host } from '../screens/hosts/host.tsx';
export { Keys } from '../screens/keys/keys.tsx';
export { FlowControl } from '../screens/lanes/flowControl.tsx';
export { Messages } from '../screens/messages/messages.tsx';
export { Queues } from '../screens/lanes/queues.tsx';
export { Publish } from '../screens/publish/publish.tsx';
export { Runs } from '../screens/runs/runs.tsx';
export { Schedules } from '../screens/schedules/schedules.tsx';
export { Upcoming } from '../screens/messages/upcoming.tsx';
export { UrlGroups } from '../screens/urlGroups/urlGroups.tsx';
