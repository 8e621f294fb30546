import { inherited, type RunSettings } from '../../options/options.ts';
import type { Features } from './features.ts';
import type { WorkflowMessage } from './workflowMessage.ts';

/**
 * The settings of an entry that differ from its run's.
 *
 * @param features those of the run's start
 * @param options those of the submission
 * @returns undefined if the run's settings apply to all
 */
export function ownSettings(features: Features, options: RunSettings): RunSettings | undefined {
  if (holdForAll(features)) return undefined;
  return inherited(options);
}

const holdForAll = (features: Features): boolean => features.has('WF_TriggerOnConfig');

/**
 * The settings of a run's message. Clients with `WF_TriggerOnConfig` send settings only with the start. A call always has its
 * own settings, because it is the user's message to a third party.
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
