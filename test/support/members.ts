import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { isRunning, processIdentity } from '../../local/stage/processes.ts';
import type { Stage } from './stage.ts';

const lock = z.object({ shared: z._default(z.array(processIdentity), []) });
const identitiesOf = ({ dataDir }: Stage) =>
  lock.parse(JSON.parse(readFileSync(join(dataDir, 'lock'), 'utf8'))).shared;

/** The processes that share a stage's work, the first one first. */
export const membersOf = (stage: Stage): readonly number[] => identitiesOf(stage).map(({ pid }) => pid);

/** The number of times that a new process has replaced one that had ended. */
export const newsIn = (stage: Stage): number =>
  stage.output().split('A new process of the service works.').length - 1;

export const hasMembers = (stage: Stage): boolean => identitiesOf(stage).some(isRunning);
