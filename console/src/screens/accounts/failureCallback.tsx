import { testedCallback } from '../../../../lambdas/wire/accountAnswers.ts';
import { ask, path } from '../../api/client.ts';
import { useAction } from '../../api/useAsked.ts';
import { Button } from '../../ui/basics.tsx';

/** Calls the account's failure callback as it is configured, and shows the answer. */
export function TestCallback({ id }: { readonly id: string }) {
  const action = useAction();
  const work = async (): Promise<string> => {
    const { status, error } = await ask(testedCallback, {
      api: 'management',
      method: 'POST',
      path: path`v2/svc/users/${id}/failure-callback/test`,
    });
    if (error !== undefined) return `The failure callback did not answer: ${error}`;
    return `The failure callback answered ${status}.`;
  };
  return (
    <Button kind="quiet" isBusy={action.isRunning} onClick={() => void action.run(work)}>
      Send a test
    </Button>
  );
}
