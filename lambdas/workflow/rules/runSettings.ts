/** The settings of a run's messages: those of its start, or of each message. */
import { inherited, type RunSettings } from '../../options/options.ts';
import type { Features } from './features.ts';
import type { WorkflowMessage } from './workflowMessage.ts';

/**
 * Picks the settings of an entry of a run's list that are not those of its run.
 *
 * @param features those of the run's start
 * @param options those of the submission
 * @returns undefined where the settings of the run hold for all
 */
export function ownSettings(features: Features, options: RunSettings): RunSettings | undefined {
  if (holdForAll(features)) return undefined;
  return inherited(options);
}

const holdForAll = (features: Features): boolean => features.has('WF_TriggerOnConfig');

/**
 * Picks the settings that a message of a run has. Clients since `WF_TriggerOnConfig` give none but at the start, and what the
 * parser of options reads of their other messages are defaults. A call is the user's own message to somebody else.
 *
 * @param features those of the run's start
 */
export const settingsFor = <T extends RunSettings>(
  kind: WorkflowMessage['kind'],
  features: Features,
  ofRun: RunSettings,
  own: T,
): T => {
  if (kind === 'call' || kind === 'failureRequest' || !holdForAll(features)) return own;
  return { ...own, ...inherited(ofRun) };
};
